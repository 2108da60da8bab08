"""The rules that are shipped: names, defaults, and who passes them."""

import pathlib
from typing import Any

import pytest
from oslo_policy import opts, policy

from tierce import config
from tierce.control.policies import list_rules
from tierce.control.policy import Policy
from tierce.model.clock import SystemClock
from tierce.model.context import RequestContext
from tierce.model.errors import InvalidValue, PolicyNotAuthorized

ADMIN_ONLY = {
    "admin_api",
    "container:create:runtime",
    "container:create:image_pull_policy",
    "container:create:requested_destination",
    "container:get_all_all_projects",
    "container:get_one_all_projects",
    "container:delete_all_projects",
    "container:delete_force",
    "container:action:events",
    *(f"container:get_one:{field}" for field in ("host", "image_pull_policy", "privileged", "runtime")),
    "host:get_all",
    "host:get",
    *(f"zun-service:{action}" for action in ("get_all", "delete", "enable", "disable", "force_down")),
    *(f"image:{action}" for action in ("pull", "get_all", "get_one", "delete")),
    *(f"network:{action}" for action in ("attach_external_network", "create", "delete")),
    "quota:update",
    "quota:delete",
    "quota_class:get",
    "quota_class:update",
    "registry:get_all_all_projects",
}
NOBODY = {"container:create:privileged", "deny_everybody"}
NAMES = [rule.name for rule in list_rules()]


def caller(*roles: str, project: str = "p1") -> RequestContext:
    return RequestContext(user_id="u", project_id=project, roles=roles)


@pytest.fixture(scope="module")
def rules() -> Policy:
    conf = config.load()
    opts.set_defaults(conf)
    conf.set_override("policy_file", "/no/operator/s/rules.yaml", "oslo_policy")
    return Policy(conf, SystemClock())


def test_a_service_does_not_start_with_rules_that_cannot_be_read(tmp_path: pathlib.Path) -> None:
    conf = config.load()
    opts.set_defaults(conf)
    (tmp_path / "policy.yaml").write_text("{")
    conf.set_override("policy_file", str(tmp_path / "policy.yaml"), "oslo_policy")
    with pytest.raises(InvalidValue, match="policy files cannot be read"):
        Policy(conf, SystemClock())


def allowed(rules: Policy, name: str, who: RequestContext, target: dict[str, Any] | None = None) -> bool:
    return rules.allows(rules.admit(who), name, target)


def test_every_rule_is_there_once() -> None:
    assert len(NAMES) == len(set(NAMES))
    assert set(NAMES) >= ADMIN_ONLY | NOBODY


@pytest.mark.parametrize("name", [name for name in NAMES if name != "context_is_admin"])
def test_a_rule_is_for_the_project_for_administrators_or_for_nobody(rules: Policy, name: str) -> None:
    own, other = {"project_id": "p1"}, {"project_id": "p2"}
    member, reader, admin = caller("member", "reader"), caller("reader"), caller("admin", "member")
    answers = [
        allowed(rules, name, member, own),
        allowed(rules, name, reader, own),
        allowed(rules, name, member, other),
        allowed(rules, name, admin, own),
        allowed(rules, name, admin, other),
    ]
    if name in NOBODY:
        assert answers == [False] * 5
    elif name in ADMIN_ONLY:
        assert answers == [False, False, False, True, True]
    else:
        assert answers == [True, True, False, True, True]


def test_an_administrator_is_known_by_the_role(rules: Policy) -> None:
    assert rules.admit(caller("admin")).is_admin
    assert not rules.admit(caller("member", "Administrator")).is_admin


def test_an_administrator_is_not_who_says_so(rules: Policy) -> None:
    assert not rules.admit(caller("member").replace(is_admin=True)).is_admin


def test_a_refusal_names_the_rule(rules: Policy) -> None:
    with pytest.raises(PolicyNotAuthorized, match=r"^Policy doesn't allow host:get to be performed\.$"):
        rules.require(caller("member"), "host:get")


def test_a_field_without_a_rule_is_everybody_s(rules: Policy) -> None:
    assert allowed(rules, "container:get_one:name", caller())


def test_every_rule_of_a_route_is_documented() -> None:
    undocumented = [rule.name for rule in list_rules() if not isinstance(rule, policy.DocumentedRuleDefault)]
    assert undocumented == ["context_is_admin", "admin_or_owner", "admin_api", "deny_everybody"]
    assert all(rule.description for rule in list_rules())
