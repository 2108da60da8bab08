"""Rows to wire primitives, and wire objects to plain dicts.

A primitive is written straight from the row, field by field with each field's own wire form: setting
every attribute of a versioned object first gives the same result some ten times slower. A test holds
the two against each other.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tierce.model.lifecycle import ContainerType
from tierce.rpc import objects

Primitive = dict[str, Any]
"""The wire form of one versioned object."""

_CLASSES: Mapping[int, Any] = {
    ContainerType.CONTAINER: objects.Container,
    ContainerType.CAPSULE: objects.Capsule,
    ContainerType.CAPSULE_CONTAINER: objects.CapsuleContainer,
    ContainerType.CAPSULE_INIT_CONTAINER: objects.CapsuleInitContainer,
}
_COLUMNS = {cls: [name for name in cls.fields if name not in objects.RELATED] for cls in _CLASSES.values()}


def container_to_wire(row: Any) -> Primitive:
    """A row of the container table (any `container_type`), every column set and nothing marked changed.

    Related rows are left out: the receiver reads them from the database, and a registry's password
    does not belong on a bus.
    """
    cls = _CLASSES[row.container_type or ContainerType.CONTAINER]
    values = {name: getattr(row, name) for name in _COLUMNS[cls]}
    cpuset = values.pop("cpuset")
    primitive = _primitive(cls, values)
    primitive["zun_object.data"]["cpuset"] = _cpuset(cpuset or {})
    return primitive


def capsule_to_wire(row: Any, containers: Iterable[Any], init_containers: Iterable[Any]) -> Primitive:
    """A capsule together with the rows of its members, as a delete carries it."""
    primitive = container_to_wire(row)
    data = primitive["zun_object.data"]
    data["containers"] = [container_to_wire(member) for member in containers]
    data["init_containers"] = [container_to_wire(member) for member in init_containers]
    return primitive


def network_to_wire(row: Any) -> Primitive:
    """A row of the network table."""
    return _primitive(objects.ZunNetwork, {name: getattr(row, name) for name in objects.ZunNetwork.fields})


def image_to_wire(row: Any) -> Primitive:
    """A row of the image table."""
    return _primitive(objects.Image, {name: getattr(row, name) for name in objects.Image.fields})


def volume_mapping_to_wire(values: Mapping[str, Any]) -> Primitive:
    """A mount for the node to store: the given fields of VolumeMapping, all of them marked changed."""
    return _primitive(objects.VolumeMapping, values, changes=list(values))


def pci_requests_to_wire(requests: Sequence[Mapping[str, Any]]) -> Primitive:
    """What a container asks of SR-IOV devices, each request the given fields of ContainerPCIRequest."""
    cls = objects.ContainerPCIRequests
    wired = [_primitive(objects.ContainerPCIRequest, one, changes=list(one)) for one in requests]
    return _envelope(cls, {"requests": wired}, changes=["requests"])


def columns(received: objects.WireObject) -> dict[str, Any]:
    """Every column that a received object has set, as a row would hold it: lists, dicts, naive times."""
    return {
        name: _plain(getattr(received, name))
        for name in received.fields
        if name not in objects.RELATED and received.obj_attr_is_set(name)
    }


def changes(received: objects.WireObject) -> dict[str, Any]:
    """The columns that the sender changed and did not save: the receiver's next save writes them.

    What names the row (`id`, `uuid`) never changes, and is left out.
    """
    dirty = received.obj_what_changed() - {"id", "uuid"}
    return {name: value for name, value in columns(received).items() if name in dirty}


def _primitive(cls: Any, values: Mapping[str, Any], changes: Sequence[str] = ()) -> Primitive:
    data = {name: cls.fields[name].to_primitive(None, name, value) for name, value in values.items()}
    return _envelope(cls, data, changes)


def _envelope(cls: Any, data: dict[str, Any], changes: Sequence[str] = ()) -> Primitive:
    primitive: Primitive = {
        "zun_object.name": cls.__name__,
        "zun_object.namespace": "zun",
        "zun_object.version": cls.VERSION,
        "zun_object.data": data,
    }
    if changes:
        primitive["zun_object.changes"] = list(changes)
    return primitive


def _cpuset(value: Mapping[str, Any]) -> Primitive:
    names = ("cpuset_cpus", "cpuset_mems")
    return _envelope(objects.Cpuset, {name: value.get(name) for name in names})


def _plain(value: Any) -> Any:
    """Without the library's checking collections and nested objects."""
    if isinstance(value, objects.WireObject):
        return {name: _plain(getattr(value, name)) for name in value.fields}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
