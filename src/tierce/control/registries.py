"""Private registries: where images come from, and the credentials there.

A password is encrypted once, before the transaction that stores it, and nothing here ever decrypts one:
only the node that pulls an image does.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from tierce.control.lookup import by_uuid_or_name
from tierce.control.policy import Policy
from tierce.db import registries
from tierce.db.engine import Database
from tierce.db.secrets import Keyring
from tierce.db.tables import Registry
from tierce.model.clock import Clock
from tierce.model.context import RequestContext
from tierce.model.errors import InvalidValue, NotAuthorized
from tierce.model.spec import ListQuery


class Registries:
    def __init__(self, database: Database, policy: Policy, keyring: Keyring, clock: Clock) -> None:
        self._database = database
        self._policy = policy
        self._keyring = keyring
        self._clock = clock

    def list(self, context: RequestContext, query: ListQuery, all_projects: bool) -> Sequence[Registry]:
        """One page of registries.

        Raises PolicyNotAuthorized (also for a filter or an order by a hidden field), RegistryNotFound
        for a bad marker, InvalidParameterValue for a bad sort key.
        """
        self._policy.require(context, "registry:get_all")
        if all_projects:
            self._policy.require(context, "registry:get_all_all_projects")
            context = context.spanning()
        for field in (*query.filters, query.sort_key):
            self._policy.require(context, f"registry:get_one:{field}")
        return self._database.read(lambda session: registries.page(session, context, query))

    def get(self, context: RequestContext, ident: str) -> Registry:
        """One registry by uuid or name. Like all below: raises RegistryNotFound, Conflict for an
        ambiguous name, PolicyNotAuthorized.
        """
        return self._database.read(lambda session: self._permitted(session, context, ident, "get_one"))

    def create(self, context: RequestContext, values: Mapping[str, str]) -> Registry:
        """A new registry from `domain` and what there is of `name`, `username` and `password`."""
        self._policy.require(context, "registry:create")
        if context.project_id is None:
            raise NotAuthorized("A registry belongs to a project, and this identity has none.")
        columns, now = self._columns(values), self._clock.now()
        return self._database.write(lambda session: registries.insert(session, context, columns, now))

    def update(self, context: RequestContext, ident: str, values: Mapping[str, str]) -> Registry:
        """Change these fields and no others; containers that exist keep what they pulled.

        A password goes to no other host than the one that it was given for: raises InvalidValue for
        another one without it.
        """
        columns = self._columns(values)
        if columns:
            columns["updated_at"] = self._clock.now()

        def work(session: Session) -> Registry:
            registry = self._permitted(session, context, ident, "update")
            registries.hold(session, registry)
            if registry.password and "password" not in columns:
                _require_same_host(registry, columns.get("domain", registry.domain))
            for column, value in columns.items():
                setattr(registry, column, value)
            session.flush()
            return registry

        return self._database.write(work)

    def delete(self, context: RequestContext, ident: str) -> None:
        """Remove it. Raises RegistryInUse while a container refers to it."""
        self._database.write(
            lambda session: registries.destroy(session, self._permitted(session, context, ident, "delete"))
        )

    def hidden_fields(self, context: RequestContext) -> frozenset[str]:
        """The fields that an operator's rules hide from the caller."""
        ruled = self._policy.written("registry:get_one:")
        return frozenset(
            field for field in ruled if not self._policy.allows(context, f"registry:get_one:{field}")
        )

    def _columns(self, values: Mapping[str, str]) -> dict[str, Any]:
        columns: dict[str, Any] = dict(values)
        if "password" in columns:
            columns["password"] = self._keyring.encrypt(columns["password"])
        return columns

    def _permitted(self, session: Session, context: RequestContext, ident: str, rule: str) -> Registry:
        registry = find(session, context, ident)
        names = ("uuid", "name", "domain", "username", "project_id", "user_id")
        target = {name: getattr(registry, name) for name in names}
        self._policy.require(context, f"registry:{rule}", target)
        return registry


def _require_same_host(registry: Registry, domain: str) -> None:
    """Or whoever may change a registry could have its password sent to a host of their own."""
    if _host(domain) != _host(registry.domain or ""):
        raise InvalidValue(
            f"Invalid input for field 'domain'. The registry's password is for {registry.domain}: give "
            f"'password' together with another domain."
        )


def _host(domain: str) -> str:
    return domain.partition("/")[0].lower()


def find(session: Session, context: RequestContext, ident: str) -> Registry:
    """The registry by uuid, else by name, among those the caller may see; an administrator sees all.

    Raises RegistryNotFound, Conflict for an ambiguous name.
    """
    return by_uuid_or_name(ident, functools.partial(registries.get, session, context.finding()))
