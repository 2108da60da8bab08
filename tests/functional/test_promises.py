"""What holds for many routes and is written in none of them: the order of checks, microversions that
change nothing, the words of the audit trail.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.client import IMAGE, Client
from tests.support.cloud import Cloud

NewCloud = Callable[..., Cloud]

# --- the order of checks --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "body"),
    [
        ("PUT /services/disable", {"host": "node1"}),
        ("PUT /quotas/p1", {"cpu": "many"}),
        ("POST /images", {"repo": "nginx"}),
        ("POST /networks", {}),
        ("GET /hosts?limit=0", None),
        ("GET /containers?limit=x&all_projects=1", None),
        ("POST /containers", {"image": IMAGE, "host": "node1", "memory": "much"}),
        ("DELETE /containers/nosuch?force=maybe", None),
    ],
)
def test_who_may_not_is_told_first_what_is_wrong_with_the_request(cloud: Cloud, line: str, body: Any) -> None:
    assert cloud.user("bob", project="p1").error(line, body)[0] == 400


@pytest.mark.parametrize(
    ("line", "body"),
    [
        ("PUT /services/disable", {"host": "nosuch", "binary": "zun-compute"}),
        ("POST /images", {"repo": "nginx", "host": "nosuch"}),
        ("GET /hosts/nosuch", None),
        ("POST /containers", {"image": IMAGE, "host": "nosuch"}),
    ],
)
def test_who_may_not_look_does_not_hear_what_is_there(cloud: Cloud, line: str, body: Any) -> None:
    status, code, _ = cloud.user("bob", project="p1").error(line, body)
    assert (status, code) == (403, "container.policy-not-authorized")


@pytest.mark.parametrize(
    "image",
    [
        "Nginx:latest",
        ":latest",
        "nginx:",
        "nginx@sha256:abc",
        "a//b",
        "n" * 256,
        "nginx latest",
        "-nginx",
        "nginx\tlatest",
        "nginx\n",
        "a" * 26 + "!",
        "https://registry.example.com/app",
    ],
)
def test_a_name_that_is_no_image_s_is_refused_and_nothing_is_kept(
    cloud: Cloud, client: Client, image: str
) -> None:
    status, _, text = client.error("POST /containers", {"image": image})
    assert status == 400
    assert "image" in text
    assert (cloud.rows(), cloud.claims()) == ([], {})


# --- microversions that changed what is taken, and not what is answered ---------------------------


def test_a_container_has_the_same_keys_at_every_microversion(client: Client) -> None:
    uuid = client.running()
    newest = client.call(f"GET /containers/{uuid}")
    assert {"registry_id", "entrypoint", "tty", "healthcheck", "cpu_policy"} <= newest.keys()
    for version in ("1.1", "1.12", "1.20", "1.31", "1.39"):
        assert client.call(f"GET /containers/{uuid}", version=version).keys() == newest.keys()
        (listed,) = client.call("GET /containers", version=version)["containers"]
        assert listed.keys() == newest.keys() - {"links"}


def test_hosts_and_actions_have_their_newer_keys_from_the_first(client: Client) -> None:
    uuid = client.created()
    (action,) = client.call(f"GET /containers/{uuid}/container_actions", version="1.1")["containerActions"]
    assert action["finish_time"] is not None
    (host,) = client.call("GET /hosts", version="1.4")["hosts"]
    assert "enable_cpu_pinning" in host


def test_a_created_container_is_answered_with_empty_values_and_no_nulls(client: Client) -> None:
    made = client.call("POST /containers", {"image": IMAGE, "memory": "0064"})
    for name in ("command", "entrypoint", "ports", "security_groups"):
        assert made[name] == []
    for name in ("environment", "labels", "addresses", "restart_policy", "healthcheck"):
        assert made[name] == {}
    assert made["memory"] == "64"
    assert "." not in made["created_at"]


# --- the audit trail ------------------------------------------------------------------------------

ACTIONS = {
    "stop": "compute__do_container_stop",
    "start": "compute__do_container_start",
    "pause": "compute__do_container_pause",
    "unpause": "compute__do_container_unpause",
    "reboot": "compute__do_container_reboot",
    "rebuild": "compute__do_container_rebuild",
    "commit?repository=copy": "compute__do_container_commit",
    "network_attach?network=web": "compute__do_network_attach",
    "network_detach?network=web": "compute__do_network_detach",
    "kill": "compute__do_container_kill",
}


def test_actions_and_their_events_have_the_names_that_scripts_look_for(cloud: Cloud, client: Client) -> None:
    uuid = client.running()
    for request, event in ACTIONS.items():
        sent = client.request(f"POST /containers/{uuid}/{request}")
        cloud.wait_idle()
        request_id = sent.headers["x-openstack-request-id"]
        done = client.call(f"GET /containers/{uuid}/container_actions/{request_id}")
        assert done["action"] == request.partition("?")[0]
        assert (done["message"], done["finish_time"] is None) == (None, False)
        assert event in [each["event"] for each in done["events"]]
        assert {each["result"] for each in done["events"]} == {"Success"}


def test_what_needs_no_node_leaves_no_trace(client: Client) -> None:
    uuid = client.running(interactive=True)
    client.call(f"PATCH /containers/{uuid}", {"name": "other"})
    client.call(f"POST /containers/{uuid}/rename?name=third", version="1.13")
    client.call(f"POST /containers/{uuid}/execute?command=true")
    client.call(f"GET /containers/{uuid}/attach")
    assert client.actions(uuid) == [("create", None)]


# --- what is given up -----------------------------------------------------------------------------


def test_a_delete_by_force_needs_its_right_whatever_comes_with_it(cloud: Cloud, client: Client) -> None:
    bob = cloud.user("bob", project="p1")
    uuid = bob.running()
    for query in ("force=true", "force=true&stop=true", "force=1&stop=0"):
        assert bob.error(f"DELETE /containers/{uuid}?{query}")[:2] == (403, "container.policy-not-authorized")
    assert (bob.show(uuid) or {})["status"] == "Running"
    bob.call(f"DELETE /containers/{uuid}?stop=true")
    bob.wait_gone(uuid)
