"""Before the application: health checks, browsers from other origins, a proxy that ends TLS."""

import pathlib
from collections.abc import Callable
from typing import Any

import pytest
import webob

from tests.support.client import Client
from tests.support.cloud import ADMIN, Cloud

NewCloud = Callable[..., Cloud]
PORTAL = "https://portal.example.com"


class Visitor:
    """Sends requests with headers of its own, and no credentials."""

    def __init__(self, cloud: Cloud) -> None:
        self._served = cloud.served

    def __call__(self, line: str, **headers: str) -> webob.Response:
        method, _, path = line.partition(" ")
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        request = webob.Request.blank(path, method=method, headers={"Host": "api:9517", **given})
        return request.get_response(self._served)


# --- health ---------------------------------------------------------------------------------------


@pytest.fixture
def disabling(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "out-of-service"


@pytest.fixture
def checked(new_cloud: NewCloud, disabling: pathlib.Path) -> Visitor:
    return Visitor(new_cloud(healthcheck={"disable_by_file_path": disabling}))


@pytest.mark.parametrize("path", ["/healthcheck", "/healthcheck/", "/healthcheck/x"])
def test_a_service_that_runs_is_healthy_for_everybody(checked: Visitor, path: str) -> None:
    answer = checked(f"GET {path}")
    assert (answer.status_code, answer.text) == (200, "OK")
    assert "openstack-api-version" not in answer.headers
    assert "x-openstack-request-id" not in answer.headers


def test_health_is_told_in_the_form_that_is_asked_for(checked: Visitor) -> None:
    assert checked("GET /healthcheck", Accept="application/json").json == {
        "detailed": False,
        "reasons": ["OK"],
    }
    head = checked("HEAD /healthcheck")
    assert (head.status_code, head.body) == (204, b"")


def test_an_operator_takes_a_service_out_with_a_file(checked: Visitor, disabling: pathlib.Path) -> None:
    disabling.touch()
    answer = checked("GET /healthcheck", Accept="application/json")
    assert (answer.status_code, answer.json["reasons"]) == (503, ["DISABLED BY FILE"])
    assert checked("GET /v1/").status_code == 200
    disabling.unlink()
    assert checked("GET /healthcheck").status_code == 200


def test_what_only_begins_like_it_is_no_health_check(checked: Visitor) -> None:
    assert checked("GET /healthchecks").status_code == 401


# --- other origins --------------------------------------------------------------------------------


@pytest.fixture
def shared(new_cloud: NewCloud) -> Cloud:
    return new_cloud(cors={"allowed_origin": PORTAL})


def preflight(cloud: Cloud, origin: str = PORTAL, method: str = "GET", wanted: str = "X-Auth-Token") -> Any:
    return Visitor(cloud)(
        "OPTIONS /v1/containers",
        Origin=origin,
        Access_Control_Request_Method=method,
        Access_Control_Request_Headers=wanted,
    )


@pytest.mark.parametrize("wanted", ["x-auth-token", "OpenStack-API-Version", "Authorization, Content-Type"])
def test_a_browser_may_ask_what_it_may_send_before_it_has_credentials(shared: Cloud, wanted: str) -> None:
    answer = preflight(shared, method="PATCH", wanted=wanted)
    assert (answer.status_code, answer.body) == (200, b"")
    assert answer.headers["access-control-allow-origin"] == PORTAL
    assert answer.headers["access-control-allow-methods"] == "PATCH"
    assert answer.headers["access-control-allow-headers"] == wanted.replace(" ", "")


@pytest.mark.parametrize(
    "asked",
    [{"origin": "https://elsewhere.example.com"}, {"method": "TRACE"}, {"wanted": "X-Unknown"}],
)
def test_what_is_not_allowed_is_not_promised(shared: Cloud, asked: dict[str, str]) -> None:
    assert "access-control-allow-origin" not in preflight(shared, **asked).headers


def test_scripts_of_an_allowed_origin_can_read_version_and_request_id(shared: Cloud) -> None:
    answer = Visitor(shared)("GET /v1/", Origin=PORTAL)
    assert answer.headers["access-control-allow-origin"] == PORTAL
    exposed = answer.headers["access-control-expose-headers"].split(",")
    assert {
        "OpenStack-API-Version",
        "OpenStack-API-Minimum-Version",
        "OpenStack-API-Maximum-Version",
        "X-OpenStack-Request-ID",
    } <= set(exposed)
    assert answer.headers["vary"] == "OpenStack-API-Version,Origin"


def test_errors_can_be_read_by_scripts_too(shared: Cloud) -> None:
    answer = Visitor(shared)("GET /v1/containers", Origin=PORTAL)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (401, PORTAL)


def test_with_other_origins_allowed_everything_else_is_as_before(shared: Cloud) -> None:
    uuid = shared.client.created()
    answer = shared.client.request(f"DELETE /containers/{uuid}")
    assert (answer.status_code, answer.content, answer.headers.get("content-type")) == (204, b"", None)
    assert "content-length" not in answer.headers
    assert shared.client.error("GET /images/nosuch")[:2] == (404, "container.image-not-found")


def test_no_origin_is_allowed_unless_the_operator_names_it(cloud: Cloud) -> None:
    assert "access-control-allow-origin" not in Visitor(cloud)("GET /v1/", Origin=PORTAL).headers


# --- proxies --------------------------------------------------------------------------------------

FORWARDED = [
    {"X_Forwarded_Proto": "https", "X_Forwarded_Host": "cloud.example.com"},
    {"Forwarded": "for=192.0.2.60;proto=https;host=cloud.example.com, for=192.0.2.61"},
]


def self_link(answer: webob.Response) -> str:
    return str(answer.json["links"][0]["href"])


@pytest.mark.parametrize("headers", FORWARDED)
def test_links_lead_to_the_proxy_that_is_trusted(new_cloud: NewCloud, headers: dict[str, str]) -> None:
    visitor = Visitor(new_cloud(oslo_middleware={"enable_proxy_headers_parsing": True}))
    assert self_link(visitor("GET /v1/", **headers)) == "https://cloud.example.com/v1/"
    assert self_link(visitor("GET /v1/")) == "http://api:9517/v1/"
    # python-zunclient puts what follows the prefix after its own endpoint.
    prefixed = visitor("GET /v1/", **headers, X_Forwarded_Prefix="/container")
    assert self_link(prefixed) == "https://cloud.example.com/v1/"


def test_the_next_page_has_no_prefix_that_the_api_is_mounted_under(cloud: Cloud) -> None:
    """Clients put what follows the version after an endpoint that has the prefix."""
    for _ in range(2):
        cloud.client.created()

    def mounted(environ: dict[str, Any], start_response: Any) -> Any:
        return cloud.served({**environ, "SCRIPT_NAME": "/container"}, start_response)

    page = Client(lambda: mounted, ADMIN).call("GET /containers?limit=1")
    assert page["next"].startswith("http://api/v1/containers?")


@pytest.mark.parametrize("headers", FORWARDED)
def test_nobody_else_can_say_where_links_lead(cloud: Cloud, headers: dict[str, str]) -> None:
    assert self_link(Visitor(cloud)("GET /v1/", **headers)) == "http://api:9517/v1/"
