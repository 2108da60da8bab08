"""The Engine's words about containers, read."""

import datetime
from typing import Any

import pytest

from tierce.model.container import ContainerReport, Endpoint, RuntimeState
from tierce.model.errors import RuntimeFailure
from tierce.runtimes.docker.report import from_inspection, from_listing, timestamp

NEVER = "0001-01-01T00:00:00Z"


def inspection(**state: Any) -> dict[str, Any]:
    known = {"Status": "created", "ExitCode": 0, "Error": "", "StartedAt": NEVER, "FinishedAt": NEVER}
    return {"Id": "c0ffee", "Name": "/zun-1", "State": {**known, **state}}


def test_a_whole_inspection() -> None:
    data = inspection(
        Status="exited",
        ExitCode=137,
        OOMKilled=True,
        Pid=0,
        StartedAt="2026-11-29T16:14:55.785534567Z",
        FinishedAt="2026-11-29T17:14:55.5+01:00",
    )
    data["Config"] = {
        "Image": "busybox:1",
        "Hostname": "box",
        "Cmd": ["sleep", "1"],
        "Entrypoint": ["/init"],
        "ExposedPorts": {"80/udp": {}, "80/tcp": {}, "443/tcp": {}},
        "Labels": {"l": "v"},
        "Tty": True,
    }
    data["HostConfig"] = {"Runtime": "runc"}
    data["NetworkSettings"] = {
        "Networks": {
            "front": {
                "EndpointID": "e1",
                "NetworkID": "n1",
                "IPAddress": "10.0.0.5",
                "GlobalIPv6Address": "fd00::5",
                "MacAddress": "02:42:00:00:00:05",
            },
            "back": {"EndpointID": "", "NetworkID": "", "IPAddress": "", "MacAddress": ""},
        }
    }
    assert from_inspection(data) == ContainerReport(
        id="c0ffee",
        name="zun-1",
        state=RuntimeState.EXITED,
        image="busybox:1",
        exit_code=137,
        oom_killed=True,
        started_at=datetime.datetime(2026, 11, 29, 16, 14, 55, 785534),  # noqa: DTZ001 - naive is UTC here
        finished_at=datetime.datetime(2026, 11, 29, 16, 14, 55, 500000),  # noqa: DTZ001 - naive is UTC here
        hostname="box",
        runtime="runc",
        command=("sleep", "1"),
        entrypoint=("/init",),
        ports=[80, 443],
        labels={"l": "v"},
        endpoints=(
            Endpoint("front", "e1", "n1", "10.0.0.5", "fd00::5", "02:42:00:00:00:05"),
            Endpoint("back"),
        ),
        tty=True,
    )


def test_what_the_engine_leaves_out_or_null_is_empty() -> None:
    data = {**inspection(), "Config": {"Cmd": None, "Entrypoint": None, "Labels": None, "ExposedPorts": None}}
    report = from_inspection(data)
    assert (report.command, report.entrypoint, report.labels, list(report.ports)) == ((), (), {}, [])
    assert (report.hostname, report.runtime, report.endpoints) == (None, None, ())


@pytest.mark.parametrize(
    ("state", "exit_code"),
    [
        ({"Status": "created"}, None),
        ({"Status": "created", "ExitCode": 127, "Error": "no such file"}, 127),
        ({"Status": "running"}, None),
        ({"Status": "running", "FinishedAt": "2026-11-29T16:14:55Z"}, None),
        ({"Status": "paused"}, None),
        ({"Status": "restarting", "ExitCode": 3, "FinishedAt": "2026-11-29T16:14:55Z"}, 3),
        ({"Status": "exited", "ExitCode": 0, "FinishedAt": "2026-11-29T16:14:55Z"}, 0),
    ],
)
def test_an_exit_code_is_reported_only_when_something_set_it(state: Any, exit_code: int | None) -> None:
    assert from_inspection(inspection(**state)).exit_code == exit_code


@pytest.mark.parametrize("state", [None, {}, {"Status": ""}, {"Status": "melting"}])
def test_a_missing_or_strange_state_is_a_failure(state: Any) -> None:
    with pytest.raises(RuntimeFailure, match="state"):
        from_inspection({"Id": "c0ffee", "Name": "/zun-1", "State": state})


def test_the_network_none_is_no_endpoint() -> None:
    data = {**inspection(), "NetworkSettings": {"Networks": {"none": {"NetworkID": "n0"}}}}
    assert from_inspection(data).endpoints == ()


def test_a_listed_container_keeps_its_own_name_among_links() -> None:
    entry = {"Id": "c0ffee", "Names": ["/web/db", "/zun-1"], "State": "running", "Labels": None}
    assert from_listing(entry) == ContainerReport("c0ffee", "zun-1", RuntimeState.RUNNING)


@pytest.mark.parametrize("text", [None, "", NEVER])
def test_never_is_none(text: str | None) -> None:
    assert timestamp(text) is None


@pytest.mark.parametrize(
    ("text", "microsecond"),
    [
        ("2026-11-29T16:14:55Z", 0),
        ("2026-11-29T16:14:55.1Z", 100000),
        ("2026-11-29T16:14:55.123456789Z", 123456),
    ],
)
def test_fractions_of_any_length_are_read(text: str, microsecond: int) -> None:
    read = timestamp(text)
    assert read is not None
    assert (read.second, read.microsecond, read.tzinfo) == (55, microsecond, None)
