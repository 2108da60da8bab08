"""Requests that a program makes up from the document of the API, good and bad: every answer is in it.

What comes out is the same at every run.
"""

import base64
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis.openapi
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.support.client import IMAGE, Client
from tests.support.cloud import Cloud
from tests.support.tars import tar
from tierce.api.openapi.document import OPERATIONS as DECLARED
from tierce.api.openapi.document import document
from tierce.api.versions import MAXIMUM

EXAMPLES = 20
"""Of each operation and caller, of good requests and of bad ones."""

SENSIBLE: dict[str, Any] = {
    "binary": "zun-compute",
    "command": "true",
    "data": base64.b64encode(tar(file=b"x")).decode(),
    "domain": "registry.example.com",
    "host": "node1",
    "image": IMAGE,
    "image_driver": "docker",
    "mounts": [{"destination": "/data", "size": 1}],
    "nets": [{"network": "default"}],
    "path": "/",
    "registry": None,
    "repo": "nginx",
    "repository": "copy",
    "sort_key": "id",
    "tag": "latest",
}
"""Values of fields whose words mean something to the service."""

Operation = APIOperation[Any, Any, Any, Any]

SCHEMA = schemathesis.openapi.from_dict(document(MAXIMUM))
OPERATIONS = [found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)]

PROMISES = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    cloud = Cloud(tmp_path_factory.mktemp("conformance"))
    yield cloud
    cloud.wait_sound()
    cloud.close()


@pytest.fixture(scope="module")
def callers(cloud: Cloud) -> dict[str, Client]:
    return {"admin": cloud.client, "alice": cloud.user("alice", project="p1")}


@pytest.fixture(autouse=True)
def _usable(cloud: Cloud) -> None:
    """The node takes work and nobody has limits, whatever the test before made of that."""
    admin = cloud.client
    if not admin.call("GET /services")["services"]:
        cloud.stop_node("node1")
        cloud.start_node("node1")
    admin.call("PUT /services/enable?host=node1&binary=zun-compute")
    admin.call("PUT /services/force_down?host=node1&binary=zun-compute&forced_down=no")
    limits = dict.fromkeys(("containers", "cpu", "memory", "disk"), -1)
    for path in ("quota_classes/default", "quotas/admin", "quotas/p1"):
        admin.call(f"PUT /{path}", limits)


def existing(cloud: Cloud, owner: Client, path: str) -> dict[str, str]:
    """Parameters of the path that name what is there, made if need be."""
    if "{project_id}" in path or "{name}" in path:
        return {"project_id": "p1", "name": "default"}
    if "/hosts/" in path:
        return {"ident": "node1"}
    if "/images/" in path:
        return {"ident": "busybox"} if "search" in path else {"ident": image(cloud.client)}
    if "/networks/" in path:
        return {"network": cloud.client.call("POST /networks", {"neutron_net_id": "kept"})["neutron_net_id"]}
    if "/registries/" in path:
        body = {"registry": {"domain": "registry.example.com"}}
        return {"ident": owner.call("POST /registries", body)["registry"]["uuid"]}
    container = next(iter(owner.call("GET /containers?status=Running&limit=1")["containers"]), None)
    uuid = container["uuid"] if container else owner.running(interactive=True)
    (action, *_) = owner.call(f"GET /containers/{uuid}/container_actions")["containerActions"]
    return {"ident": uuid, "request_id": action["request_id"]}


def image(admin: Client) -> str:
    found = admin.call("GET /images")["images"]
    made = found[0] if found else admin.call("POST /images", {"repo": "nginx", "host": "node1"})
    return str(made["uuid"])


def make_sensible(case: Case[Any]) -> None:
    """Have the request mean something: it names what there is, and says nothing twice."""
    body = case.body if isinstance(case.body, dict) else {}
    if "registry" in body and isinstance(body["registry"], dict):
        body["registry"] = sensible(body["registry"])
    else:
        body = sensible(body)
    if body:
        case.body = body
    case.query = {name: value for name, value in sensible(case.query).items() if name not in body}


def sensible(values: dict[str, Any]) -> dict[str, Any]:
    return {name: SENSIBLE.get(name, value) for name, value in values.items()}


def made_up(operation: Operation, mode: GenerationMode, send: Callable[[Case[Any], bool], None]) -> None:
    """Send the requests that the seed gives, to what is there and to what is not."""

    @settings(
        derandomize=True,
        database=None,
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), there=st.booleans())
    def run(case: Case[Any], there: bool) -> None:
        send(case, there)

    run()


def test_every_operation_is_tried() -> None:
    assert len(OPERATIONS) == len([each for each in DECLARED if each.is_there_at(MAXIMUM)])


@pytest.mark.parametrize(
    ("operation", "mode"),
    [
        pytest.param(operation, mode, id=f"{operation.label} {mode.value}")
        for operation in OPERATIONS
        for mode in GenerationMode
        # Nothing can be bad about a request that takes no parameters.
        if mode is GenerationMode.POSITIVE or operation.path != "/"
    ],
)
@pytest.mark.parametrize("caller", ["admin", "alice"])
def test_every_answer_is_one_that_the_document_has(
    cloud: Cloud, callers: dict[str, Client], operation: Operation, caller: str, mode: GenerationMode
) -> None:
    credentials = base64.b64encode(f"{caller}:password of {caller}".encode())
    headers = {"Authorization": f"Basic {credentials.decode()}"}

    def send(case: Case[Any], there: bool) -> None:
        if there and case.path_parameters:
            known = existing(cloud, callers[caller], operation.path)
            case.path_parameters = {name: known[name] for name in case.path_parameters}
        if there and mode is GenerationMode.POSITIVE:
            make_sensible(case)
        case.call_and_validate(headers=headers, checks=PROMISES, app=cloud.served)

    made_up(operation, mode, send)
