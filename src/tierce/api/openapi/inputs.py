"""Parameters of requests as the document shows them: models, at one microversion, as JSON schema."""

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from tierce.api.requests.schema import Formerly, Params, Since
from tierce.api.versions import Version
from tierce.api.views.shapes import Shape

REFERENCE: Final = "#/components/schemas/{model}"

_NOT_IN_A_QUERY: Final = frozenset({"null", "array", "object"})
_NULL: Final = frozenset({"null"})


@dataclasses.dataclass(frozen=True, slots=True)
class Input:
    """What an operation takes, and where.

    In both places each parameter may be in either, but not in both. `declared`: the body must call
    itself JSON. `wrapped`: it is the value of that one key, and has no nulls.
    """

    model: type[Params]
    in_query: bool = False
    in_body: bool = False
    declared: bool = False
    wrapped: str | None = None

    def parameters(self, version: Version) -> Iterator[dict[str, Any]]:
        """The parameters of the query string."""
        if not self.in_query:
            return
        shape, _ = described(self.model, version)
        required = () if self.in_body else shape.get("required", ())
        for name, field in shape["properties"].items():
            yield in_query(name, _without(field, _NOT_IN_A_QUERY), required=name in required)

    def body(self, version: Version) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        """The request body, and the definitions that it refers to."""
        if not self.in_body:
            return None, {}
        shape, definitions = described(self.model, version)
        required = bool(shape.get("required")) and not self.in_query
        if self.in_query:
            shape.pop("required", None)
        if self.wrapped is not None:
            shape["properties"] = {k: _without(v, _NULL) for k, v in shape["properties"].items()}
            shape = {
                "type": "object",
                "properties": {self.wrapped: shape},
                "required": [self.wrapped],
                "additionalProperties": False,
            }
            required = True
        return {"required": required, "content": {"application/json": {"schema": shape}}}, definitions


def in_query(name: str, shape: Shape, *, required: bool = False) -> dict[str, Any]:
    """One parameter of a query string."""
    return {"name": name, "in": "query", "required": required, "schema": shape}


def described(model: type[Params], version: Version) -> tuple[dict[str, Any], dict[str, Any]]:
    """The model as JSON schema, with the fields that it has at that version; the definitions it uses."""
    shape = model.model_json_schema(ref_template=REFERENCE, schema_generator=_Generator)
    definitions: dict[str, Any] = shape.pop("$defs", {})
    for name, field in model.model_fields.items():
        key = field.alias or name
        for tag in field.metadata:
            if isinstance(tag, Since) and not tag.reached_by(version):
                del shape["properties"][key]
            if isinstance(tag, Formerly) and version < Version.of(tag.version):
                shape["properties"][key] = dict(tag.schema)
    return shape, definitions


class _Generator(GenerateJsonSchema):
    """Without titles, which repeat the names, and without defaults that mean absent."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default") in (None, (), [], {}):
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)


def _without(shape: Mapping[str, Any], kinds: Collection[str]) -> dict[str, Any]:
    """The shape without the alternatives of these kinds."""
    left = dict(shape)
    if isinstance(left.get("type"), list):
        left["type"] = [kind for kind in left["type"] if kind not in kinds]
    if "anyOf" in left:
        alternatives = [_without(each, kinds) for each in left.pop("anyOf")]
        alternatives = [each for each in alternatives if each.get("type") not in ([], *kinds)]
        left |= alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}
    return left
