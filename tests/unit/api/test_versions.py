"""Microversions: negotiation, the headers that tell of it, and the documents that announce it."""

import pytest

from tests.unit.api.edge import UUID, Edge, container_row
from tierce.api.versions import HISTORY, Version, negotiate

RANGE = {
    "openstack-api-minimum-version": "container 1.1",
    "openstack-api-maximum-version": "container 1.40",
    "vary": "OpenStack-API-Version",
}


def headers_of_versions(answer: object) -> dict[str, str]:
    return {
        name: value
        for name, value in answer.headers.items()
        if name in RANGE or name == "openstack-api-version"
    }


def test_the_history_has_every_version_once_and_in_order() -> None:
    assert [text for text, _ in HISTORY] == [f"1.{minor}" for minor in range(1, 41)]


@pytest.mark.parametrize(
    ("header", "version"),
    [
        (None, "1.1"),
        ("container 1.1", "1.1"),
        ("container 1.12", "1.12"),
        ("  container   1.40 ", "1.40"),
        ("container latest", "1.40"),
        ("container LATEST", "1.40"),
        ("compute 2.1, container 1.12", "1.12"),
        ("container 1.12,compute latest", "1.12"),
    ],
)
def test_a_version_is_chosen(header: str | None, version: str) -> None:
    assert str(negotiate(header)) == version


def test_versions_compare_as_numbers() -> None:
    assert Version.of("1.9") < Version.of("1.10")


@pytest.mark.parametrize(
    ("header", "detail"),
    [
        ("1.5", "Invalid service type for OpenStack-API-Version header"),
        ("compute 1.5", "Invalid service type for OpenStack-API-Version header"),
        ("compute latest", "Invalid service type for OpenStack-API-Version header"),
        ("CONTAINER 1.4", "Invalid service type for OpenStack-API-Version header"),
        ("container 1.4 extra", "Invalid service type for OpenStack-API-Version header"),
        ("container 1", "Invalid value for OpenStack-API-Version header"),
        ("container 1.2.3", "Invalid value for OpenStack-API-Version header"),
        ("container a.b", "Invalid value for OpenStack-API-Version header"),
        ("container -1.2", "Invalid value for OpenStack-API-Version header"),
        (f"container 1.{'9' * 5000}", "Invalid value for OpenStack-API-Version header"),
    ],
)
def test_a_malformed_version_is_406(edge: Edge, header: str, detail: str) -> None:
    answer = edge.request("GET /v1/containers", version=None, headers={"openstack-api-version": header})

    assert answer.status_code == 406
    (error,) = answer.json["errors"]
    assert error["title"] == "Not Acceptable"
    assert error["detail"] == detail
    assert headers_of_versions(answer) == RANGE


@pytest.mark.parametrize("version", ["1.0", "0.0", "1.41", "2.0", "999.999"])
def test_a_version_out_of_range_is_406_that_tells_the_range(edge: Edge, version: str) -> None:
    answer = edge.request("GET /v1/containers", version=version)

    assert answer.status_code == 406
    (error,) = answer.json["errors"]
    assert error["code"] == "container.microversion-unsupported"
    assert error["title"] == "Requested microversion is unsupported"
    assert "[container 1.1, container 1.40]" in error["detail"]
    assert (error["min_version"], error["max_version"]) == ("1.1", "1.40")
    assert error["links"][0]["rel"] == "help"
    assert headers_of_versions(answer) == RANGE | {"openstack-api-version": f"container {version}"}


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("POST /v1/containers/web/rename?name=other", "1.14"),
        ("GET /v1/hosts", "1.3"),
        ("GET /v1/hosts/node1", "1.1"),
    ],
)
def test_an_endpoint_that_a_version_does_not_have_is_406(edge: Edge, line: str, version: str) -> None:
    answer = edge.request(line, version=version)

    assert answer.status_code == 406
    assert answer.json["errors"][0]["detail"] == (
        f"Version {version} was requested but the requested API is not supported for this version."
    )
    assert edge.control_calls() == []


def test_rename_is_there_up_to_1_13(edge: Edge) -> None:
    edge.services.containers.answers["rename"] = container_row(name="other")

    answer = edge.request("POST /v1/containers/web/rename?name=other", version="1.13")

    assert answer.status_code == 200
    assert answer.json["name"] == "other"
    assert answer.json["links"][0]["href"].endswith(UUID)


@pytest.mark.parametrize(
    ("line", "headers"),
    [
        ("POST /v1/containers/web/start", {}),
        ("PUT /v1/containers", {}),
        ("GET /v1/nosuch", {}),
        ("GET /v1/containers?limit=x", {}),
    ],
)
def test_every_answer_below_v1_tells_the_version(edge: Edge, line: str, headers: dict[str, str]) -> None:
    answer = edge.request(line, version="1.12", headers=headers)

    assert headers_of_versions(answer) == RANGE | {"openstack-api-version": "container 1.12"}


def test_the_root_document_announces_the_range_to_anybody_and_does_not_negotiate(edge: Edge) -> None:
    answer = edge.request("GET /", version="99.99", headers={"authorization": ""})

    assert answer.status_code == 200
    assert headers_of_versions(answer) == {}
    version = {
        "id": "v1",
        "links": [{"href": "http://api:9517/v1/", "rel": "self"}],
        "status": "CURRENT",
        "max_version": "1.40",
        "min_version": "1.1",
    }
    assert answer.json["name"] == "OpenStack Zun API"
    assert answer.json["versions"] == [version]
    assert answer.json["default_version"] == version


def test_the_v1_document_names_the_resources_to_anybody_and_negotiates(edge: Edge) -> None:
    answer = edge.request("GET /v1", version="latest", headers={"authorization": ""})

    assert answer.status_code == 200
    assert headers_of_versions(answer)["openstack-api-version"] == "container 1.40"
    assert answer.json["id"] == "v1"
    assert answer.json["containers"] == [
        {"href": "http://api:9517/v1/containers/", "rel": "self"},
        {"href": "http://api:9517/containers/", "rel": "bookmark"},
    ]
    assert edge.request("GET /v1", version="1.41").status_code == 406
