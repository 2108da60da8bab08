"""No identity: whoever reaches the port is the administrator. For development and tests alone."""

from collections.abc import Mapping

from oslo_config import cfg

from tierce.model.context import RequestContext

_EVERYBODY = RequestContext(
    user_id="admin",
    user_name="admin",
    project_id="admin",
    project_name="admin",
    roles=("admin", "member", "reader"),
)


class NoAuthIdentity:
    @classmethod
    def from_conf(cls, _conf: cfg.ConfigOpts) -> "NoAuthIdentity":
        return cls()

    def authenticate(self, _headers: Mapping[str, str]) -> RequestContext:
        """The one caller there is."""
        return _EVERYBODY
