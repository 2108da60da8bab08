"""The caller of a request, on its way to a node."""

import datetime

from tierce.model.context import RequestContext
from tierce.rpc.context import context_from_wire, context_to_wire

NOW = datetime.datetime.fromisoformat("2026-11-29T16:13:55")
CALLER = RequestContext(
    user_id="u",
    user_name="alice",
    project_id="p",
    project_name="demo",
    domain_id="default",
    domain_name="Default",
    roles=("member", "reader"),
    is_admin=True,
    all_projects=True,
    global_request_id="req-outer",
    auth_token="token",
)


def test_a_context_arrives_as_it_was_sent() -> None:
    assert context_from_wire(context_to_wire(CALLER, NOW)) == CALLER


def test_the_time_has_six_digits_and_no_zone_even_on_a_full_second() -> None:
    assert context_to_wire(CALLER, NOW)["timestamp"] == "2026-11-29T16:13:55.000000"


def test_a_message_without_context_has_no_rights_and_gets_a_request_id() -> None:
    context = context_from_wire({})

    assert not context.is_admin
    assert not context.all_projects
    assert context.roles == ()
    assert context.request_id.startswith("req-")


def test_admin_rights_must_have_been_said() -> None:
    assert not context_from_wire({"is_admin": None}).is_admin
    assert not context_from_wire({"is_admin": "false"}).is_admin
    assert context_from_wire({"is_admin": True}).is_admin


def test_nulls_are_taken_for_absent() -> None:
    keys = dict.fromkeys(context_to_wire(CALLER, NOW))

    assert context_from_wire(keys).roles == ()


def test_the_token_body_is_not_sent() -> None:
    assert context_to_wire(CALLER, NOW)["auth_token_info"] is None
