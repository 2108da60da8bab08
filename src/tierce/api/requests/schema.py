"""Check parameters against a model, with the microversion of every field, and word what is wrong."""

import dataclasses
import functools
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

import pydantic
from oslo_config import cfg
from pydantic_core import ErrorDetails

from tierce.api.versions import Version
from tierce.model.errors import InvalidParamInVersion, SchemaInvalid

SECRET: Final = frozenset({"environment", "source", "password", "data"})
"""Fields whose values are not repeated in an error."""

_SENTENCES: Final[Mapping[str, str]] = {
    "missing": "It is required.",
    "model_type": "It must be an object.",
    "list_type": "It must be an array.",
    "string_type": "It must be a string.",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Since:
    """The microversion that brought a field.

    Below it a value is refused (`container.invalid-param-in-version`), or with `unknown_below` the
    field does not exist. `empty_passes`: an empty array or object was never refused.
    """

    version: str
    unknown_below: bool = False
    empty_passes: bool = False

    def reached_by(self, version: Version) -> bool:
        return version >= Version.of(self.version)

    def lets_pass(self, value: object) -> bool:
        """Whether the value is taken below the version too."""
        return self.empty_passes and value in ([], {})


@dataclasses.dataclass(frozen=True, slots=True)
class Formerly:
    """What a field was below a microversion, as JSON schema: for the document of the API alone."""

    version: str
    schema: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Rules:
    """What the meaning of a request depends on beside itself: its microversion, the configuration."""

    version: Version
    conf: cfg.ConfigOpts


class Params(pydantic.BaseModel):
    """Base of all models. Fields say their microversion with `Since`; null means absent."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, populate_by_name=False)


P = TypeVar("P", bound=Params)


def parse(model: type[P], values: Mapping[str, Any], rules: Rules) -> P:
    """The parameters as the model has them.

    Raises SchemaInvalid, whose text names the field, and InvalidParamInVersion.
    """
    newer = {name: since for name, since in _tags(model).items() if not since.reached_by(rules.version)}
    unknown = {name for name, since in newer.items() if since.unknown_below}
    _require_known(values, model.model_fields.keys() - unknown)
    given = {name: value for name, value in values.items() if value is not None}
    try:
        parsed = model.model_validate(given, context=rules)
    except pydantic.ValidationError as exc:
        raise _invalid(exc.errors(include_url=False)[0]) from None
    for name, since in newer.items():
        if name in given and not since.lets_pass(given[name]):
            raise InvalidParamInVersion(name, str(rules.version), since.version)
    return parsed


def known(model: type[Params], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the model's own fields: for requests of which others were always ignored."""
    return {name: value for name, value in values.items() if name in model.model_fields}


def rules_of(info: pydantic.ValidationInfo) -> Rules:
    """The rules that `parse` was called with, for a validator."""
    assert isinstance(info.context, Rules)
    return info.context


@functools.cache
def _tags(model: type[Params]) -> dict[str, Since]:
    return {
        name: tag
        for name, field in model.model_fields.items()
        for tag in field.metadata
        if isinstance(tag, Since)
    }


def _require_known(values: Iterable[str], known: Iterable[str]) -> None:
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise SchemaInvalid(_unexpected(unknown), unknown[0])


def _unexpected(names: list[str]) -> str:
    listed = ", ".join(f"'{_shown(name)}'" for name in names[:10])
    verb = "was" if len(names) == 1 else "were"
    return f"Additional properties are not allowed ({listed} {verb} unexpected)"


def _invalid(error: ErrorDetails) -> SchemaInvalid:
    location = error["loc"]
    field = _path(location)
    if not location:
        return SchemaInvalid(_reason(error))
    if error["type"] == "extra_forbidden":
        return SchemaInvalid(f"Invalid input for field '{field}'. {_unexpected([str(location[-1])])}", field)
    if error["type"] == "missing" and len(location) == 1:
        return SchemaInvalid(f"'{field}' is a required property", field)
    secret = SECRET.intersection(location) or _has_secret(error["input"])
    value = "***" if secret else _shown(error["input"])
    return SchemaInvalid(f"Invalid input for field '{field}'. Value: '{value}'. {_reason(error)}", field)


def _path(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _reason(error: ErrorDetails) -> str:
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    if error["type"] == "too_long":
        return f"It may have at most {error['ctx']['max_length']} items."
    return _SENTENCES.get(error["type"], error["msg"])


def _has_secret(value: object) -> bool:
    """Whether one of the secret fields is in it: what is wrong may be the object around that."""
    match value:
        case dict():
            return not SECRET.isdisjoint(value) or any(map(_has_secret, value.values()))
        case list():
            return any(map(_has_secret, value))
    return False


def _shown(value: object) -> str:
    """The value, shortened: it may be megabytes."""
    if isinstance(value, str):
        return value if len(value) <= 64 else f"{value[:61]}..."
    return reprlib.repr(value)
