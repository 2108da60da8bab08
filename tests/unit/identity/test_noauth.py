"""No identity at all."""

from tierce import config
from tierce.identity.noauth import NoAuthIdentity


def test_everybody_is_the_administrator_of_one_project() -> None:
    caller = NoAuthIdentity.from_conf(config.load()).authenticate({"authorization": "Basic whatever"})

    assert (caller.user_id, caller.project_id) == ("admin", "admin")
    assert caller.roles == ("admin", "member", "reader")
