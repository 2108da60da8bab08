"""Rules of `/v1/networks`, and of the networks that containers may join."""

from tierce.control.policies.base import rule

_ADMIN = "role:admin"  # and not the rule of the others: the reference's own defaults

RULES = [
    rule(
        "network:attach_external_network",
        _ADMIN,
        "Attach a container to an external network that is not shared.",
        "POST /v1/containers",
        "POST /v1/containers/{ident}/network_attach",
    ),
    rule("network:create", _ADMIN, "Keep a network on a node.", "POST /v1/networks"),
    rule(
        "network:delete",
        _ADMIN,
        "Remove a network from the nodes that keep it.",
        "DELETE /v1/networks/{network}",
    ),
]
