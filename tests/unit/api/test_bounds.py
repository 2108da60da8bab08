"""How much of something a container may have: the bound itself is taken, one more is refused by name."""

from typing import Any

import pytest

from tests.unit.api.edge import Edge

BOUNDS = {
    "nets": 8,
    "mounts": 32,
    "security_groups": 32,
    "exposed_ports": 256,
    "command": 4096,
    "entrypoint": 4096,
}


def filled(field: str, number: int) -> Any:
    """A value of the field with that many items."""
    match field:
        case "nets":
            return [{"network": f"n{each}"} for each in range(number)]
        case "mounts":
            return [{"size": 1, "destination": f"/{each}"} for each in range(number)]
        case "exposed_ports":
            return {str(each + 1): {} for each in range(number)}
    return [str(each) for each in range(number)]


@pytest.mark.parametrize(("field", "bound"), BOUNDS.items())
def test_a_container_may_have_so_many_and_no_more(edge: Edge, field: str, bound: int) -> None:
    taken = edge.request("POST /v1/containers", body={"image": "nginx", field: filled(field, bound)})
    refused = edge.request("POST /v1/containers", body={"image": "nginx", field: filled(field, bound + 1)})

    assert taken.status_code == 202, taken.text
    assert refused.status_code == 400
    (error,) = refused.json["errors"]
    assert f"'{field}'" in error["title"]
    assert f"at most {bound}" in error["title"]


@pytest.mark.parametrize("field", ["environment", "labels"])
def test_what_is_kept_as_json_counts_by_its_ascii_bytes(edge: Edge, field: str) -> None:
    """Six for a character of these, as it is stored."""
    taken, refused = (
        edge.request("POST /v1/containers", body={"image": "nginx", field: {"A": "é" * number}})
        for number in (10_921, 10_922)
    )
    assert taken.status_code == 202, taken.text
    assert (refused.status_code, f"'{field}'" in refused.text) == (400, True)


@pytest.mark.parametrize(("version", "command"), [("1.19", "x " * 4097), ("1.20", ["x"] * 4097)])
def test_a_command_line_counts_by_its_words(edge: Edge, version: str, command: Any) -> None:
    body = {"image": "nginx", "command": command}
    refused = edge.request("POST /v1/containers", body=body, version=version)
    assert (refused.status_code, "at most 4096 words" in refused.text) == (400, True)


def test_so_does_a_command_to_execute(edge: Edge) -> None:
    refused = edge.request("POST /v1/containers/web/execute", body={"command": ["x"] * 4097})
    assert (refused.status_code, "at most 4096 words" in refused.text) == (400, True)


@pytest.mark.parametrize("action", ["stop", "reboot"])
def test_a_container_gets_at_most_an_hour_to_end(edge: Edge, action: str) -> None:
    assert edge.request(f"POST /v1/containers/web/{action}?timeout=3600").status_code == 202
    refused = edge.request(f"POST /v1/containers/web/{action}?timeout=3601")
    assert (refused.status_code, "'timeout'" in refused.text) == (400, True)


@pytest.mark.parametrize("source", ["../x", "a/b", "/etc", " a", "a\n", "..", "x" * 129])
def test_the_name_of_a_volume_is_no_path(edge: Edge, source: str) -> None:
    mounts = [{"type": "volume", "source": source, "destination": "/data"}]
    refused = edge.request("POST /v1/containers", body={"image": "nginx", "mounts": mounts})
    assert refused.status_code == 400
    (error,) = refused.json["errors"]
    assert "'mounts[0].source'" in error["title"]
    assert edge.control_calls() == []


def test_a_volume_may_have_a_name_of_128_characters(edge: Edge) -> None:
    mounts = [{"source": "x" * 128, "destination": "/data"}]
    answer = edge.request("POST /v1/containers", body={"image": "nginx", "mounts": mounts})
    assert answer.status_code == 202, answer.text


@pytest.mark.parametrize(("workdir", "status"), [("app", 400), ("./app", 400), ("/app", 202), ("", 202)])
def test_a_working_directory_is_absolute(edge: Edge, workdir: str, status: int) -> None:
    answer = edge.request("POST /v1/containers", body={"image": "nginx", "workdir": workdir})
    assert answer.status_code == status, answer.text
    assert status == 202 or "'workdir'" in answer.text
