"""Parameters of registries."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, StringConstraints

from tierce.api.requests.fields import Name, Reference
from tierce.api.requests.listing import Listing, Query, listing
from tierce.api.requests.schema import Params, Rules, parse
from tierce.db.secrets import MAX_SECRET
from tierce.images import reference
from tierce.model.errors import InvalidValue, SchemaInvalid

FILTERS = frozenset({"name", "domain", "username", "project_id", "user_id"})


def _domain(value: str) -> str:
    try:
        reference.parse("image").within(value)
    except InvalidValue as exc:
        raise ValueError(
            "It must be the host of a registry, with its port if it needs one and without `https://`: "
            "registry.example.com, 10.0.0.5:5000."
        ) from exc
    return value


def _password(value: str) -> str:
    if len(value.encode()) > MAX_SECRET:
        raise ValueError(f"It may have at most {MAX_SECRET} bytes.")
    return value


Domain = Annotated[Reference, AfterValidator(_domain)]
Password = Annotated[str, StringConstraints(strict=True, min_length=1), AfterValidator(_password)]


class ChangedRegistry(Params):
    """What `PATCH` may give. A field that is left out stays as it is; none can be taken back to null."""

    name: Name | None = None
    domain: Domain | None = None
    username: Reference | None = None
    password: Password | None = None


class NewRegistry(ChangedRegistry):
    """What `POST` may give, and must."""

    domain: Domain


R = TypeVar("R", bound=ChangedRegistry)


def fields(model: type[R], body: Mapping[str, Any], rules: Rules) -> dict[str, str]:
    """The fields that a body gives, checked. Raises SchemaInvalid; no error repeats a password."""
    inner = body.get("registry")
    if body.keys() != {"registry"} or not isinstance(inner, dict):
        raise SchemaInvalid("The body must have one key, 'registry', whose value is an object.", "registry")
    for field, value in inner.items():
        if value is None and field in model.model_fields:
            raise SchemaInvalid(f"Invalid input for field '{field}'. It must be a string.", field)
    return parse(model, inner, rules).model_dump(exclude_unset=True)


def registry_listing(query: Query, max_limit: int) -> Listing:
    """The parameters of `GET /v1/registries`. Raises InvalidValue."""
    return listing(query, max_limit, FILTERS)
