"""Files into and out of containers: what travels, what is too much, and what it costs."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.client import Client
from tests.support.cloud import Cloud
from tests.support.tars import contents, tar
from tierce.model.container import RuntimeState
from tierce.model.errors import RuntimeConflict, RuntimeUnreachable

LIMIT = 200_000
"""Bytes of an archive in most of these clouds."""

HELLO = tar(hello_txt=b"hello\xff\n")


@pytest.fixture
def cloud(new_cloud: Callable[..., Cloud]) -> Cloud:
    return new_cloud(DEFAULT={"max_archive_size": LIMIT})


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def put(client: Client, uuid: str, data: bytes, path: str = "/tmp") -> Any:
    return client.call(f"POST /containers/{uuid}/put_archive?path={path}", {"data": encoded(data)})


def files(cloud: Cloud, uuid: str) -> dict[str, bytes]:
    return cloud.engine.containers[f"zun-{uuid}"].files


# --- both ways ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["1.25", "1.40"])
def test_archives_are_base64_from_1_25_on(cloud: Cloud, client: Client, version: str) -> None:
    uuid = client.created()
    body = {"path": "/tmp", "data": encoded(HELLO), "ignored": 1}
    answer = client.request(f"POST /containers/{uuid}/put_archive", body, version=version)
    assert (answer.status_code, answer.text) == (200, "null")
    assert files(cloud, uuid) == {"/tmp/hello.txt": b"hello\xff\n"}

    got = client.call(f"GET /containers/{uuid}/get_archive?path=/tmp/hello.txt&ignored=1", version=version)
    assert contents(base64.b64decode(got.pop("data"), validate=True)) == {"hello.txt": b"hello\xff\n"}
    assert got == {
        "stat": {
            "name": "hello.txt",
            "size": 7,
            "mode": 420,
            "mtime": "1970-01-01T00:00:00Z",
            "linkTarget": "",
        }
    }


def test_archives_are_text_before(cloud: Cloud, client: Client) -> None:
    uuid, text = client.created(), tar(hello_txt="grüße\n".encode())
    client.call(f"POST /containers/{uuid}/put_archive?path=/tmp", {"data": text.decode()}, version="1.24")
    assert files(cloud, uuid) == {"/tmp/hello.txt": "grüße\n".encode()}
    got = client.call(f"GET /containers/{uuid}/get_archive?path=/tmp/hello.txt", version="1.24")
    assert contents(got["data"].encode()) == {"hello.txt": "grüße\n".encode()}


def test_what_is_no_text_cannot_be_had_as_text(client: Client) -> None:
    uuid = client.created()
    put(client, uuid, HELLO)
    assert client.error(f"GET /containers/{uuid}/get_archive?path=/tmp", version="1.24") == (
        400,
        "container.invalid",
        "The archive is not UTF-8 text: reading it requires microversion 1.25, which encodes it.",
    )


@pytest.mark.parametrize("state", ["Created", "Running", "Paused", "Stopped"])
def test_files_are_copied_in_every_settled_state(client: Client, state: str) -> None:
    uuid = client.created() if state == "Created" else client.running()
    if state in ("Paused", "Stopped"):
        client.call(f"POST /containers/{uuid}/{'pause' if state == 'Paused' else 'stop'}")
        client.wait(uuid, state)
    put(client, uuid, HELLO)
    client.call(f"GET /containers/{uuid}/get_archive?path=/tmp")
    assert client.actions(uuid)[-1][0] in ("create", "pause", "stop"), "nothing is recorded of it"


def test_files_of_what_is_being_made_or_failed_are_out_of_reach(cloud: Cloud, client: Client) -> None:
    failed = client.create(run=True, command=["/nosuch/program"])
    client.wait(failed, "Error")
    for line, body in (("GET", None), ("POST", {"data": ""})):
        action = "get_archive" if line == "GET" else "put_archive"
        refused = client.error(f"{line} /containers/{failed}/{action}?path=/tmp", body)
        assert refused[:2] == (409, "container.invalid-state-exception")


# --- refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["x", "AAA", "AAA=\n", "AA-_", "A A=", "ÄÄÄÄ"])
def test_base64_is_taken_strictly_and_nothing_is_sent(cloud: Cloud, client: Client, data: str) -> None:
    uuid = client.created()
    cloud.engine.script("archives.put", error=AssertionError("reached the engine"))
    assert client.error(f"POST /containers/{uuid}/put_archive?path=/tmp", {"data": data}) == (
        400,
        "container.base-64-exception",
        "Invalid Base 64 file data",
    )


@pytest.mark.parametrize("data", [b"no tar file" * 100, HELLO[:600]])
def test_what_is_no_tar_file_is_refused(cloud: Cloud, client: Client, data: bytes) -> None:
    uuid = client.created()
    body = {"data": encoded(data)}
    assert client.error(f"POST /containers/{uuid}/put_archive?path=/tmp", body)[:2] == (
        400,
        "container.invalid",
    )
    assert files(cloud, uuid) == {}


@pytest.mark.parametrize("path", ["/nosuch", "/100%25s/%25(x)d"])
def test_a_path_that_is_not_there_is_400_and_names_it(client: Client, path: str) -> None:
    uuid = client.created()
    for method, action, body in (("GET", "get_archive", None), ("POST", "put_archive", {"data": ""})):
        status, code, text = client.error(f"{method} /containers/{uuid}/{action}?path={path}", body)
        assert (status, code) == (400, "container.invalid")
        assert path.replace("%25", "%") in text


def test_one_that_the_engine_lost_is_409_and_its_row_is_right_then(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    cloud.wait_idle()
    cloud.engine.containers[f"zun-{uuid}"].state = RuntimeState.EXITED
    cloud.engine.script("archives.get", error=RuntimeConflict("the container is being removed"))
    assert client.error(f"GET /containers/{uuid}/get_archive?path=/tmp")[:2] == (409, "container.conflict")
    assert (client.show(uuid) or {})["status"] == "Stopped"


# --- limits -------------------------------------------------------------------------------------------


def sized(total: int) -> bytes:
    """A tar file of that many bytes."""
    whole = tar(big=b"x" * (total - 2048))
    return whole[:total] + bytes(total - len(whole[:total]))


def test_as_much_as_the_limit_can_be_moved_and_not_a_byte_more(cloud: Cloud, client: Client) -> None:
    uuid = client.created()
    put(client, uuid, sized(LIMIT))
    assert len(files(cloud, uuid)["/tmp/big"]) == LIMIT - 2048
    body = {"data": encoded(sized(LIMIT) + b"\0")}
    status, code, text = client.error(f"POST /containers/{uuid}/put_archive?path=/tmp", body)
    assert (status, code) == (413, "container.archive-too-large")
    assert str(LIMIT) in text


@pytest.mark.parametrize("encode", [True, False])
def test_of_what_is_larger_not_even_a_part_is_answered(cloud: Cloud, client: Client, encode: bool) -> None:
    uuid = client.created()
    for name in ("one", "two"):
        put(client, uuid, tar(**{name: b"x" * (LIMIT // 2)}))
    version = "1.40" if encode else "1.24"
    status, code, _ = client.error(f"GET /containers/{uuid}/get_archive?path=/tmp", version=version)
    assert (status, code) == (413, "container.archive-too-large")
    if encode:
        client.call(f"GET /containers/{uuid}/get_archive?path=/tmp/one")


def test_a_read_that_breaks_off_is_an_error_and_no_half_file(cloud: Cloud, client: Client) -> None:
    uuid = client.created()
    put(client, uuid, HELLO)
    cloud.engine.script("archives.get", lost=True, error=RuntimeUnreachable("Docker cannot be reached."))
    assert client.error(f"GET /containers/{uuid}/get_archive?path=/tmp")[:2] == (
        503,
        "container.runtime-unreachable",
    )
