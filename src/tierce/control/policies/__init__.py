"""The policy rules, one module per resource, with the documented names and defaults."""

from oslo_policy import policy

from tierce.control.policies import base, container, host, image, service


def list_rules() -> list[policy.RuleDefault]:
    """Every rule (the entry point of the sample generator)."""
    return [rule for module in (base, container, host, service, image) for rule in module.RULES]
