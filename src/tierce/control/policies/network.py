"""Rules of `/v1/networks`, and of the networks that containers may join."""

from oslo_policy import policy

_ADMIN = "role:admin"

RULES = [
    policy.DocumentedRuleDefault(
        "network:attach_external_network",
        _ADMIN,
        "Attach a container to an external network that is not shared.",
        [
            {"path": "/v1/containers", "method": "POST"},
            {"path": "/v1/containers/{ident}/network_attach", "method": "POST"},
        ],
    ),
    policy.DocumentedRuleDefault(
        "network:create", _ADMIN, "Keep a network on a node.", [{"path": "/v1/networks", "method": "POST"}]
    ),
    policy.DocumentedRuleDefault(
        "network:delete",
        _ADMIN,
        "Remove a network from the nodes that keep it.",
        [{"path": "/v1/networks/{network}", "method": "DELETE"}],
    ),
]
