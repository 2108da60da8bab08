"""What the bus library calls on every context, argument and result that goes through it."""

import datetime
from collections.abc import Mapping
from typing import Any

import oslo_messaging

from tierce.model.clock import Clock
from tierce.model.context import RequestContext
from tierce.rpc.context import context_from_wire, context_to_wire
from tierce.rpc.objects import WireObject

_OBJECT_MARK = "zun_object.name"


class WireSerializer(oslo_messaging.Serializer):  # type: ignore[misc]  # the library is untyped
    """Contexts to and from their keys; versioned objects, at any depth, to and from primitives."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def serialize_context(self, context: RequestContext) -> dict[str, Any]:
        return context_to_wire(context, self._clock.now())

    def deserialize_context(self, keys: Mapping[str, Any]) -> RequestContext:
        return context_from_wire(keys)

    def serialize_entity(self, _context: Any, entity: Any) -> Any:
        return to_wire(entity)

    def deserialize_entity(self, _context: Any, entity: Any) -> Any:
        return from_wire(entity)


def to_wire(entity: Any) -> Any:
    """`entity` as JSON can hold it.

    Bytes (logs, output of programs) become text, what is not UTF-8 in them replaced: a reply that
    cannot be encoded would leave the caller waiting. Raises TypeError for what has no wire form.
    """
    if entity is None or isinstance(entity, str | int | float):
        return entity
    if isinstance(entity, bytes):
        return entity.decode(errors="replace")
    if isinstance(entity, WireObject):
        return entity.obj_to_primitive()
    if isinstance(entity, Mapping):
        return {str(key): to_wire(value) for key, value in entity.items()}
    if isinstance(entity, list | tuple | set | frozenset):
        return [to_wire(item) for item in entity]
    if isinstance(entity, datetime.datetime):
        return entity.isoformat()
    raise TypeError(f"A {type(entity).__name__} has no wire form")


def from_wire(entity: Any) -> Any:
    """`entity` with every primitive in it, at any depth, made a versioned object.

    Raises the versioned objects' library's UnsupportedObjectError and IncompatibleObjectVersion, and
    ValueError for a field that is not of its type.
    """
    if isinstance(entity, dict):
        if _OBJECT_MARK in entity:
            return WireObject.obj_from_primitive(entity)
        return {key: from_wire(value) for key, value in entity.items()}
    if isinstance(entity, list):
        return [from_wire(item) for item in entity]
    return entity
