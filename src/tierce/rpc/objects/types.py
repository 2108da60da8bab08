"""Field types: those that the library lacks or has in a form that does not fit, and short names."""

import json
from typing import Any

from oslo_versionedobjects import fields


class _Json(fields.FieldType):  # type: ignore[misc]  # the library is untyped
    """Any JSON value; on the wire it is JSON text inside the JSON message. Plain objects are taken too."""

    @staticmethod
    def coerce(_obj: object, _attr: str, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value

    from_primitive = coerce

    @staticmethod
    def to_primitive(_obj: object, _attr: str, value: Any) -> str:
        return json.dumps(value)


class JsonField(fields.AutoTypedField):  # type: ignore[misc]  # the library is untyped
    AUTO_TYPE = _Json()


def text(*, nullable: bool = True) -> Any:
    """A string. Also for uuids: the library's own type warns through global state, and checks nothing."""
    return fields.StringField(nullable=nullable)


def secret_text() -> Any:
    """A nullable string that may hold passwords: masked when the object is printed."""
    return fields.SensitiveStringField(nullable=True)
