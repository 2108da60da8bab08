"""Which spelling of a path leads where."""

import pytest

from tests.unit.api.edge import Edge, container_row
from tierce.api.middleware.paths import canonical
from tierce.model.errors import ContainerNotFound


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/", "/"),
        ("//", "/"),
        ("", "/"),
        ("/v1", "/v1"),
        ("/v1/", "/v1"),
        ("/v1//", "/v1"),
        ("/v1.json", "/v1"),
        ("/v1/containers", "/v1/containers"),
        ("/v1/containers/", "/v1/containers"),
        ("/v1/containers.json", "/v1/containers"),
        ("/containers", "/v1/containers"),
        ("/containers.json", "/v1/containers"),
        ("/registries/x", "/v1/registries/x"),
        ("/v1/containers//web", "/v1/containers/web"),
        ("/v1/containers//web//network_list", "/v1/containers/web/network_list"),
        ("/containers//web/", "/v1/containers/web"),
        ("/v1/containers/web/start/", "/v1/containers/web/start"),
        ("/v1/containers/web/start.json", "/v1/containers/web/start"),
        ("/v1/containers/web.json", "/v1/containers/web.json"),
        ("/v1/containers/web.json/start", "/v1/containers/web.json/start"),
        ("/v1/hosts/node2.example.com", "/v1/hosts/node2.example.com"),
        ("/v1/hosts/node.json", "/v1/hosts/node.json"),
        ("/v1/images/library/nginx/search", "/v1/images/library%2Fnginx/search"),
        ("/images/nginx/search/", "/v1/images/nginx/search"),
        ("/v1/images/search", "/v1/images/search"),
        ("/v1/images/a/b", "/v1/images/a/b"),
        # These were never served.
        ("/v1//containers", "/v1//containers"),
        ("//v1/containers", "/v1//v1/containers"),
    ],
)
def test_spellings_of_one_path_come_together(path: str, meant: str) -> None:
    assert canonical(path) == meant


@pytest.mark.parametrize(
    "path",
    [
        "/v1//containers",
        "//v1/containers",
        "/v1/nosuch",
        "/v2",
        "/v1/containers/a/b",
        "/v1/quotas",
        "/v1/services/node1/zun-compute",
    ],
)
def test_what_does_not_exist_is_404(edge: Edge, path: str) -> None:
    answer = edge.request(f"GET {path}")

    assert answer.status_code == 404
    assert answer.json["errors"][0]["code"] == "container.not-found"


@pytest.mark.parametrize("name", ["logs", "container_actions", "web.html", "x.tar.gz", "Ünïcode", "v1"])
def test_the_segment_after_containers_is_always_an_identifier(edge: Edge, name: str) -> None:
    edge.services.containers.answers["get"] = container_row()

    assert edge.request(f"GET /v1/containers/{name}").status_code == 200
    assert edge.services.containers.only_call("get")["ident"] == name


def test_json_at_the_end_of_a_name_is_taken_literally_first(edge: Edge) -> None:
    edge.services.containers.answers["get"] = container_row(name="web.json")

    assert edge.request("GET /v1/containers/web.json").status_code == 200
    assert edge.services.containers.only_call("get")["ident"] == "web.json"


@pytest.mark.parametrize("line", ["GET /v1/containers/web.json", "DELETE /v1/containers/web.json"])
def test_json_at_the_end_of_a_name_is_an_extension_if_no_such_container_exists(edge: Edge, line: str) -> None:
    edge.services.containers.answers["get"] = ContainerNotFound("web")
    edge.services.lifecycle.answers["delete"] = ContainerNotFound("web")

    assert edge.request(line).status_code == 404
    assert [arguments["ident"] for name, arguments in edge.control_calls() if name in ("get", "delete")] == [
        "web.json",
        "web",
    ]


def test_a_name_with_a_nul_character_is_not_looked_for(edge: Edge) -> None:
    assert edge.request("GET /v1/containers/a%00b").status_code == 404
    assert edge.control_calls() == []


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("PUT /", "GET, HEAD"),
        ("POST /v1", "GET, HEAD"),
        ("PUT /v1/containers", "GET, POST"),
        ("DELETE /v1/containers", "GET, POST"),
        ("HEAD /v1/containers", "GET, POST"),
        ("POST /v1/containers/true", "DELETE, GET, PATCH"),
        ("POST /v1/containers/web?_method=DELETE", "DELETE, GET, PATCH"),
        ("GET /v1/containers/web/start", "POST"),
        ("POST /v1/containers/web/logs", "GET"),
        ("POST /v1/containers/web/container_actions", "GET"),
        ("POST /v1/services", "DELETE, GET"),
        ("GET /v1/services/enable", "PUT"),
        ("DELETE /v1/images/library/nginx/search", "GET"),
        ("DELETE /v1/images", "GET, POST"),
        ("POST /v1/availability_zones", "GET"),
        ("POST /v1/quotas/p1", "DELETE, GET, PUT"),
        ("PUT /v1/quotas/p1/defaults", "GET"),
        ("DELETE /v1/quota_classes/default", "GET, PUT"),
    ],
)
def test_a_method_that_a_path_does_not_have_is_405_and_allow_says_which_it_has(
    edge: Edge, line: str, allowed: str
) -> None:
    answer = edge.request(line)

    assert answer.status_code == 405
    assert answer.headers["allow"] == f"{allowed}, OPTIONS"
    assert edge.control_calls() == []
    if not line.startswith("HEAD"):
        assert answer.json["errors"][0]["code"] == "container.method-not-allowed"


@pytest.mark.parametrize("path", ["/", "/v1/"])
def test_version_documents_answer_head_without_a_body(edge: Edge, path: str) -> None:
    head, get = edge.request(f"HEAD {path}"), edge.request(f"GET {path}")

    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == str(len(get.content))
