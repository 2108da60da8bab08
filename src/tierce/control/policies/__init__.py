"""The policy rules, one module per resource, with the documented names and defaults."""

from oslo_policy import policy

from tierce.control.policies import base, container, host, image, network, quota, registry, service


def list_rules() -> list[policy.RuleDefault]:
    """Every rule (the entry point of the sample generator)."""
    modules = (base, container, host, service, image, network, quota, registry)
    return [rule for module in modules for rule in module.RULES]
