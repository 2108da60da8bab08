"""The agent's end of the bus."""

from tierce.agent.service import ComputeEndpoint
from tierce.rpc.server import METHODS


def test_every_message_of_the_contract_is_served() -> None:
    assert {name for name in METHODS if not hasattr(ComputeEndpoint, name)} == set()
