"""Images that the credentials of one project brought: who else may use them."""

import contextlib
import dataclasses
import json
import pathlib
from collections.abc import Iterator, Mapping

import pytest

from tests.unit.images.store import ALICE, BOB, NODE, Progress, Store, driver, facts
from tierce.images.access import ImageAccess
from tierce.images.base import ImageRequest
from tierce.images.registry import DefaultRegistry, RegistryImages
from tierce.model.container import ImageFacts
from tierce.model.errors import ImageNotFound, ImagePullFailed, InvalidValue

SHA256 = "sha256:" + "0123456789abcdef" * 4
PRIVATE = "reg.user/app:latest"


def asks(
    images: RegistryImages,
    project: str,
    auth: Mapping[str, str] | None = None,
    policy: str = "ifnotpresent",
    image: str = "reg.user/app",
) -> ImageFacts:
    return images.ensure(ImageRequest(image, policy, "reg.user" if auth else None, auth, project))


def private_registry(*present: str) -> Store:
    store = Store(*present)
    store.members = [ALICE, BOB]
    return store


@pytest.mark.parametrize("policy", ["always", "ifnotpresent", "never"])
@pytest.mark.parametrize("image", ["reg.user/app", facts(PRIVATE).id])
def test_a_private_image_is_not_for_a_project_that_may_not_pull_it(policy: str, image: str) -> None:
    store = private_registry()
    images = driver(store)
    asks(images, "red", ALICE)
    with pytest.raises((ImageNotFound, ImagePullFailed, InvalidValue)):
        asks(images, "blue", policy=policy, image=image)
    with pytest.raises((ImageNotFound, ImagePullFailed)):
        asks(images, "blue", {**ALICE, "password": "guessed"}, policy)


@pytest.mark.parametrize("policy", ["ifnotpresent", "never"])
def test_its_own_project_uses_it_without_asking_the_registry_again(policy: str) -> None:
    store = private_registry()
    images = driver(store)
    asks(images, "red", ALICE)
    before = list(store.asked)
    assert asks(images, "red", policy=policy) == facts(PRIVATE)
    assert store.asked == before


def test_a_project_that_may_pull_it_too_shares_what_is_there() -> None:
    store = private_registry()
    images = driver(store)
    asks(images, "red", ALICE)
    asks(images, "blue", BOB)
    assert store.asked == [(PRIVATE, ALICE), (PRIVATE, BOB)]
    assert store.pulls == [(PRIVATE, ALICE)]
    assert asks(images, "blue", policy="never") == facts(PRIVATE)


def test_an_engine_that_pulls_from_what_it_has_does_not_open_a_private_image() -> None:
    """Engines answer a pull by digest from their store, without a word to the registry."""

    class Cached(Store):
        def pull(self, reference: str, **_: object) -> ImageFacts:  # type: ignore[override]  # told nothing else
            return self.images.setdefault(reference, facts(reference))

    store = Cached()
    images = driver(store)
    name = f"reg.user/app@{SHA256}"
    asks(images, "red", ALICE, image=name)
    store.members = [ALICE]
    with pytest.raises(ImagePullFailed):
        asks(images, "blue", policy="always", image=name)


def test_what_was_for_everybody_stays_so_when_somebody_pulls_it_with_credentials() -> None:
    store = Store(PRIVATE)
    images = driver(store)
    asks(images, "red", ALICE, "always")
    store.members = [ALICE]
    assert asks(images, "blue", policy="never") == facts(PRIVATE)


def test_an_image_pulled_with_credentials_of_the_node_is_for_everybody() -> None:
    store = Store()
    store.members = [NODE]
    images = driver(store, DefaultRegistry("reg.user", NODE))
    asks(images, "red")
    store.members = []
    assert asks(images, "blue", policy="never") == facts(PRIVATE)


def test_a_registry_is_only_waited_for() -> None:
    """Of an answer that does not come, nobody else of the node is to know."""
    waits: list[str] = []

    @contextlib.contextmanager
    def waiting() -> Iterator[None]:
        waits.append("begun")
        yield
        waits.append("over")

    class Slow(Store):
        def require_access(self, reference: str, *, auth: Mapping[str, str] | None) -> None:
            waits.append("asked")
            super().require_access(reference, auth=auth)

    store = Slow()
    images = RegistryImages(store, ImageAccess(), idle_timeout=7.0, waiting=waiting)
    asks(images, "red", ALICE)
    waits.clear()
    asks(images, "blue", BOB)
    assert waits == ["begun", "asked", "over"]


@pytest.mark.parametrize("moment", ["pulled", "died while pulling"])
def test_who_may_use_it_outlives_the_process(tmp_path: pathlib.Path, moment: str) -> None:
    class Died(BaseException):
        """The process is gone: nothing of it tidies up."""

    class Mortal(Store):
        dead = False

        def find(self, reference: str) -> ImageFacts | None:
            if self.dead:
                raise Died
            return super().find(reference)

        def die(self, _progress: Progress) -> None:
            self.images[PRIVATE] = facts(PRIVATE)
            self.dead = True
            raise Died

    store = Mortal()
    store.members = [ALICE]
    if moment != "pulled":
        store.during_pull = store.die
    file = tmp_path / "state" / "access.json"
    with contextlib.suppress(Died):
        asks(RegistryImages(store, ImageAccess(file), idle_timeout=7.0), "red", ALICE)
    assert store.images

    store.dead, store.during_pull = False, lambda progress: None
    later = RegistryImages(store, ImageAccess(file), idle_timeout=7.0)
    with pytest.raises(ImagePullFailed):
        asks(later, "blue")
    with pytest.raises(ImageNotFound):
        asks(later, "blue", policy="never")
    assert asks(later, "red", ALICE) == facts(PRIVATE)


def test_a_pull_cut_short_by_a_crash_and_repeated_does_not_open_the_image(tmp_path: pathlib.Path) -> None:
    store = private_registry()
    file = tmp_path / "access.json"

    def leave_it_on_the_node(_progress: Progress) -> None:
        store.images[PRIVATE] = facts(PRIVATE)
        crashed.append(file.read_bytes())

    crashed: list[bytes] = []
    store.during_pull = leave_it_on_the_node
    asks(RegistryImages(store, ImageAccess(file), idle_timeout=7.0), "red", ALICE)
    file.write_bytes(crashed[0])

    later = RegistryImages(store, ImageAccess(file), idle_timeout=7.0)
    asks(later, "red", ALICE, "always")
    with pytest.raises(ImageNotFound):
        asks(later, "blue", policy="never")
    assert asks(later, "red", policy="never") == facts(PRIVATE)


def test_a_stranger_who_fails_to_pull_it_meanwhile_does_not_open_the_image() -> None:
    """Or a wrong password, given while the owner pulls, would do as well as the right one."""
    store = private_registry()
    access = ImageAccess()
    images = RegistryImages(store, access, idle_timeout=7.0)
    seen: list[bool] = []

    def meanwhile(_progress: Progress) -> None:
        with pytest.raises(ImagePullFailed):
            asks(images, "blue", {**ALICE, "password": "guessed"})
        store.images[PRIVATE] = facts(PRIVATE)
        seen.append(access.allows(facts(PRIVATE), PRIVATE, "blue"))

    store.during_pull = meanwhile
    asks(images, "red", ALICE)
    assert seen == [False]
    assert not access.allows(facts(PRIVATE), PRIVATE, "blue")
    assert access.allows(facts(PRIVATE), PRIVATE, "red")


def test_a_pull_that_fails_shuts_nobody_out() -> None:
    store = private_registry(PRIVATE)
    images = driver(store)
    with pytest.raises(ImagePullFailed):
        asks(images, "red", {**ALICE, "password": "wrong"}, "always")
    assert asks(images, "blue", policy="never") == facts(PRIVATE)


def test_an_image_that_was_there_under_another_name_stays_for_everybody() -> None:
    """Or whoever can copy a public image into a registry of its own could take it from the others."""
    store = Store("public:1")
    both = dataclasses.replace(facts("public:1"), tags=("public:1", PRIVATE))

    def same_content(_progress: Progress) -> None:
        store.images = {"public:1": both, PRIVATE: both}

    store.during_pull = same_content
    images = driver(store)
    asks(images, "red", ALICE)
    assert asks(images, "blue", policy="never", image="public:1") == both


def test_what_is_written_down_of_an_image_goes_when_the_image_has_gone(tmp_path: pathlib.Path) -> None:
    store, file = private_registry(), tmp_path / "access.json"
    images = RegistryImages(store, ImageAccess(file), idle_timeout=7.0)
    kept = "reg.user/kept:latest"
    asks(images, "red", ALICE)
    asks(images, "red", ALICE, image=kept)
    store.remove(PRIVATE)

    images.tidy()

    assert json.loads(file.read_text())["projects"] == {facts(kept).id: ["red"]}
    with pytest.raises(ImagePullFailed):
        asks(images, "blue", image=kept)


def test_nothing_is_forgotten_while_a_private_image_comes() -> None:
    """It is not there yet, and may have been there before."""
    store = private_registry()
    access = ImageAccess()
    images = RegistryImages(store, access, idle_timeout=7.0)
    asks(images, "red", ALICE)
    store.remove(PRIVATE)
    store.during_pull = lambda _progress: images.tidy()

    asks(images, "green", BOB)

    assert access.allows(facts(PRIVATE), PRIVATE, "red")
    assert not access.allows(facts(PRIVATE), PRIVATE, "blue")
