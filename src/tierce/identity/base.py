"""The contract of an identity plug."""

from collections.abc import Mapping
from typing import Protocol

from tierce.model.context import RequestContext


class Unauthenticated(Exception):
    """The request says not, or not convincingly, who asks. `challenge` is for `WWW-Authenticate`."""

    def __init__(self, challenge: str) -> None:
        super().__init__("The request you have made requires authentication.")
        self.message = str(self)
        self.challenge = challenge


class Identity(Protocol):
    """A plug (entry-point group `tierce.identity`), made by its class method `from_conf(conf)`."""

    def authenticate(self, headers: Mapping[str, str]) -> RequestContext:
        """The caller with its roles, from headers whose names are in lower case.

        `is_admin` is left false: what makes an administrator is policy. Raises Unauthenticated, and
        NotAuthorized for a caller who is known but may use nothing here.
        """
