"""What every object on the bus shares: name space, registry, and what an unset field reads as."""

import collections
from typing import Any, TypeVar

from oslo_versionedobjects import base, exception, fields

_Class = TypeVar("_Class", bound="type[WireObject]")


class _Registry(base.VersionedObjectRegistry):  # type: ignore[misc]  # the library is untyped
    """The classes of this name space only: os-vif and others keep theirs in the library's global one."""

    classes: collections.defaultdict[str, list[Any]] = collections.defaultdict(list)

    def __new__(cls) -> "_Registry":
        self: _Registry = object.__new__(cls)
        self._obj_classes = cls.classes
        return self


def register(cls: _Class) -> _Class:
    """Class decorator: make the fields properties, and the class known by its wire name."""
    _Registry.register(cls)
    return cls


class WireObject(base.VersionedObject):  # type: ignore[misc]  # the library is untyped
    """An object in Zun's name space.

    A field that the sender left unset reads as None: senders of an older version leave out what they
    do not know, and nothing is ever loaded from a database through these objects.
    """

    OBJ_SERIAL_NAMESPACE = "zun_object"
    OBJ_PROJECT_NAMESPACE = "zun"

    @classmethod
    def obj_class_from_name(cls, objname: str, objver: str) -> Any:
        """The class for a name and version off the wire.

        Lower minors are taken as they are, and so is a third component (it marks changes that do not
        matter to receivers). Raises the library's UnsupportedObjectError and IncompatibleObjectVersion.
        """
        if objname not in _Registry.classes:
            raise exception.UnsupportedObjectError(objtype=objname)
        (known,) = _Registry.classes[objname]
        major, minor = (int(part) for part in objver.split(".")[:2])
        known_major, known_minor = (int(part) for part in known.VERSION.split("."))
        if major != known_major or minor > known_minor:
            raise exception.IncompatibleObjectVersion(objname=objname, objver=objver, supported=known.VERSION)
        return known

    def obj_load_attr(self, attrname: str) -> None:
        setattr(self, f"_obj_{attrname}", None)


def persistent(**own: Any) -> dict[str, Any]:
    """The fields of an object that is a row: its own and the two times, naive UTC."""
    return own | {
        "created_at": fields.DateTimeField(tzinfo_aware=False, nullable=True),
        "updated_at": fields.DateTimeField(tzinfo_aware=False, nullable=True),
    }
