"""The driver that pulls from registries: when it pulls, from where, with whose credentials, and once."""

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.threads import refused
from tests.unit.images.store import ALICE, BOB, NODE, Progress, Store, driver, facts
from tierce import config
from tierce.images.base import ImageRequest
from tierce.images.registry import DefaultRegistry, RegistryImages
from tierce.model.container import ImageFacts
from tierce.model.errors import (
    ImageNotFound,
    ImagePullFailed,
    InvalidValue,
    RuntimeConflict,
    RuntimeUnreachable,
)

DEADLINE = 20.0
SHA256 = "sha256:" + "0123456789abcdef" * 4


class UntilAllHaveHeard:
    """A pull that shows signs of life until every waiter has heard one: then all of them wait for it."""

    def __init__(self, waiters: int) -> None:
        self._condition = threading.Condition()
        self._missing = set(range(waiters))

    def hear(self, waiter: int) -> None:
        with self._condition:
            self._missing.discard(waiter)
            self._condition.notify_all()

    def __call__(self, progress: Progress) -> None:
        with self._condition:
            for _ in range(400):
                progress()
                if self._condition.wait_for(lambda: not self._missing, timeout=0.05):
                    return
            raise AssertionError(f"These never heard of any progress: {self._missing}")


# --- policies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "present", "pulled"),
    [
        ("always", True, True),
        ("always", False, True),
        ("ifnotpresent", True, False),
        ("ifnotpresent", False, True),
        ("never", True, False),
        ("IfNotPresent", True, False),
    ],
)
def test_the_policy_decides_whether_to_pull(policy: str, present: bool, pulled: bool) -> None:
    store = Store(*(["busybox:latest"] if present else []))
    image = driver(store).ensure(ImageRequest("busybox", policy))
    assert image == facts("busybox:latest")
    assert bool(store.pulls) == pulled


def test_never_and_absent_says_so_and_pulls_nothing() -> None:
    store = Store()
    with pytest.raises(ImageNotFound) as refusal:
        driver(store).ensure(ImageRequest("busybox:1", "never"))
    assert refusal.value.message == "Image busybox:1 not present with pull policy of never"
    assert store.pulls == []


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(InvalidValue):
        driver(Store("busybox:latest")).ensure(ImageRequest("busybox", "sometimes"))


def test_a_digest_is_pulled_by_digest() -> None:
    store = Store()
    driver(store).ensure(ImageRequest(f"busybox:1@{SHA256}"))
    assert store.pulls == [(f"busybox@{SHA256}", None)]


def test_a_malformed_name_reaches_no_engine() -> None:
    store = Store()
    with pytest.raises(InvalidValue):
        driver(store).ensure(ImageRequest("Busybox"))
    assert store.pulls == []


def test_the_idle_limit_is_handed_to_the_engine() -> None:
    store = Store()
    driver(store).ensure(ImageRequest("busybox"))
    assert store.idle_timeouts == [7.0]


# --- registries and credentials -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "auth_domain", "auth", "pulled", "sent"),
    [
        ("app", None, None, "reg.node/app:latest", NODE),
        ("reg.node/app", None, None, "reg.node/app:latest", NODE),
        ("REG.node/app", None, None, "REG.node/app:latest", NODE),
        ("evil.example/app", None, None, "evil.example/app:latest", None),
        ("reg.node:444/app", None, None, "reg.node:444/app:latest", None),
        ("app", "reg.user:5000", ALICE, "reg.user:5000/app:latest", ALICE),
        ("reg.user:5000/app:1", "reg.user:5000", ALICE, "reg.user:5000/app:1", ALICE),
        ("app", "reg.user/team", ALICE, "reg.user/team/app:latest", ALICE),
        ("evil.example/app", "reg.user:5000", ALICE, "evil.example/app:latest", None),
        ("reg.user/app", "reg.user:5000", ALICE, "reg.user/app:latest", None),
        ("reg.node/app", "reg.user", ALICE, "reg.node/app:latest", NODE),
        ("app", "reg.user", None, "reg.user/app:latest", None),
        ("reg.node/app", "reg.node", ALICE, "reg.node/app:latest", ALICE),
    ],
)
def test_credentials_go_to_their_own_registry_and_nowhere_else(
    reference: str,
    auth_domain: str | None,
    auth: Mapping[str, str] | None,
    pulled: str,
    sent: Mapping[str, str] | None,
) -> None:
    store = Store()
    images = driver(store, DefaultRegistry("reg.node", NODE))
    images.ensure(ImageRequest(reference, auth_domain=auth_domain, auth=auth))
    assert store.pulls == [(pulled, sent)]


def test_without_a_default_registry_a_bare_name_stays_bare_and_gets_no_credentials() -> None:
    store = Store()
    driver(store).ensure(ImageRequest("app", auth=ALICE))
    assert store.pulls == [("app:latest", None)]


def test_credentials_do_not_show_in_any_repr() -> None:
    assert "shared" not in repr(DefaultRegistry("reg.node", NODE))


def test_the_configuration_names_the_default_registry_and_the_idle_limit() -> None:
    conf = config.load(
        overrides=[
            ("docker", "default_registry", "reg.node"),
            ("docker", "default_registry_username", "node"),
            ("docker", "default_registry_password", "shared"),
            ("DEFAULT", "image_pull_idle_timeout", 12),
        ]
    )
    store = Store()
    RegistryImages.from_config(store, conf).ensure(ImageRequest("app"))
    assert store.pulls == [("reg.node/app:latest", NODE)]
    assert store.idle_timeouts == [12]


def test_an_unset_default_registry_changes_nothing() -> None:
    store = Store()
    RegistryImages.from_config(store, config.load()).ensure(ImageRequest("app"))
    assert store.pulls == [("app:latest", None)]


# --- one pull for many ----------------------------------------------------------------------------


def ensure_together(
    images: RegistryImages, pull: UntilAllHaveHeard, requests: list[ImageRequest]
) -> list[object]:
    """All at once, each with its own `progress`; the outcomes, errors among them."""

    def ensure(waiter: int) -> object:
        try:
            return images.ensure(requests[waiter], lambda: pull.hear(waiter))
        except RuntimeUnreachable as error:
            return error

    with ThreadPoolExecutor(len(requests)) as threads:
        return list(threads.map(ensure, range(len(requests)), timeout=DEADLINE))


def test_twenty_who_want_one_image_share_one_pull_and_each_hears_of_its_progress() -> None:
    pull = UntilAllHaveHeard(20)
    store = Store(during_pull=pull)
    names = ["busybox", "busybox:latest", "docker.io/busybox", "docker.io/library/busybox"]
    outcomes = ensure_together(driver(store), pull, [ImageRequest(names[i % 4]) for i in range(20)])
    assert len(store.pulls) == 1
    assert {type(outcome) for outcome in outcomes} == {ImageFacts}


def test_all_who_share_a_pull_get_its_error_and_the_next_one_pulls_again() -> None:
    pull = UntilAllHaveHeard(5)

    def fail(progress: Progress) -> None:
        pull(progress)
        raise RuntimeUnreachable("The engine does not answer.")

    store = Store(during_pull=fail)
    images = driver(store)
    outcomes = ensure_together(images, pull, [ImageRequest("busybox")] * 5)
    assert {type(outcome) for outcome in outcomes} == {RuntimeUnreachable}
    assert len(store.pulls) == 1

    store.during_pull = lambda progress: None
    assert images.ensure(ImageRequest("busybox")) == facts("busybox:latest")
    assert len(store.pulls) == 2


def test_different_credentials_and_different_images_are_different_pulls() -> None:
    pull = UntilAllHaveHeard(4)
    store = Store(during_pull=pull)
    requests = [
        ImageRequest("reg.user/app", auth_domain="reg.user", auth=ALICE),
        ImageRequest("reg.user/app", auth_domain="reg.user", auth=BOB),
        ImageRequest("reg.user/app"),
        ImageRequest("reg.user/app:2"),
    ]
    ensure_together(driver(store), pull, requests)
    assert sorted(store.pulls, key=repr) == sorted(
        [
            ("reg.user/app:latest", ALICE),
            ("reg.user/app:latest", BOB),
            ("reg.user/app:latest", None),
            ("reg.user/app:2", None),
        ],
        key=repr,
    )


def test_always_pulls_again_once_a_pull_is_over() -> None:
    store = Store()
    images = driver(store)
    images.ensure(ImageRequest("busybox"))
    images.ensure(ImageRequest("busybox"))
    assert len(store.pulls) == 2


def test_a_waiter_that_gives_up_leaves_the_pull_to_the_others() -> None:
    pull = UntilAllHaveHeard(2)
    images = driver(Store(during_pull=pull))

    def give_up() -> None:
        pull.hear(0)
        raise ImagePullFailed("No longer wanted.")

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(images.ensure, ImageRequest("busybox"), give_up)
        with pytest.raises(ImagePullFailed):
            first.result(DEADLINE)
        second = threads.submit(images.ensure, ImageRequest("busybox"), lambda: pull.hear(1))
        assert second.result(DEADLINE) == facts("busybox:latest")


def test_a_waiter_can_give_up_before_the_first_sign_of_life() -> None:
    over = threading.Event()

    def silent(_progress: Progress) -> None:
        over.wait(2 * DEADLINE)

    def give_up() -> None:
        raise ImagePullFailed("No longer wanted.")

    with ThreadPoolExecutor(1) as threads:
        waiter = threads.submit(driver(Store(during_pull=silent)).ensure, ImageRequest("busybox"), give_up)
        try:
            with pytest.raises(ImagePullFailed):
                waiter.result(DEADLINE)
        finally:
            over.set()


def test_nobody_waits_for_a_pull_that_found_no_thread() -> None:
    images = driver(Store())
    with refused("image-pull"), pytest.raises(RuntimeError):
        images.ensure(ImageRequest("busybox"))
    next_one = threading.Thread(target=images.ensure, args=[ImageRequest("busybox")], daemon=True)
    next_one.start()
    next_one.join(DEADLINE)
    assert not next_one.is_alive()


# --- removal --------------------------------------------------------------------------------------


def test_an_image_is_removed_by_name_with_the_default_tag() -> None:
    store = Store("busybox:latest", "busybox:1")
    driver(store).remove("busybox")
    assert list(store.images) == ["busybox:1"]


def test_an_image_is_removed_by_id() -> None:
    store = Store("busybox:latest")
    driver(store).remove(facts("busybox:latest").id)
    assert store.images == {}


def test_removing_what_is_absent_succeeds() -> None:
    driver(Store()).remove("busybox")


@pytest.mark.parametrize(
    "removed", ["busybox", "docker.io/library/busybox:latest", facts("busybox:latest").id]
)
def test_an_image_that_is_being_pulled_is_not_removed(removed: str) -> None:
    started, released = threading.Event(), threading.Event()

    def wait(progress: Progress) -> None:
        started.set()
        assert released.wait(DEADLINE)

    store = Store("busybox:latest", during_pull=wait)
    images = driver(store)
    with ThreadPoolExecutor(1) as threads:
        pull = threads.submit(images.ensure, ImageRequest("busybox"))
        try:
            assert started.wait(DEADLINE)
            with pytest.raises(RuntimeConflict):
                images.remove(removed)
            assert "busybox:latest" in store.images
        finally:
            released.set()
        pull.result(DEADLINE)
    images.remove("busybox")
    assert store.images == {}


def test_a_failed_removal_leaves_pulls_possible() -> None:
    class InUse(Store):
        def remove(self, reference: str) -> None:
            raise RuntimeConflict("A container uses it.")

    images = driver(InUse("busybox:latest"))
    with pytest.raises(RuntimeConflict):
        images.remove("busybox")
    assert images.ensure(ImageRequest("busybox")) == facts("busybox:latest")
