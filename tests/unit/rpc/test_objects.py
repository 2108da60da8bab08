"""Versioned objects: what a receiver takes, refuses and reads."""

from typing import Any

import pytest
from oslo_versionedobjects import base, exception

from tierce.rpc import convert, objects
from tierce.rpc.serializer import from_wire, to_wire

VERSIONS = {
    objects.Container: "1.44",
    objects.Capsule: "1.4",
    objects.CapsuleContainer: "1.4",
    objects.CapsuleInitContainer: "1.4",
    objects.Cpuset: "1.0",
    objects.VolumeMapping: "1.5",
    objects.Volume: "1.0",
    objects.Registry: "1.0",
    objects.ZunNetwork: "1.2",
    objects.Image: "1.2",
    objects.ExecInstance: "1.0",
    objects.ContainerPCIRequests: "1.0",
    objects.ContainerPCIRequest: "1.0",
    objects.PciDevice: "1.1",
}


@pytest.fixture
def wire(container: Any) -> dict[str, Any]:
    return convert.container_to_wire(container)


@pytest.mark.parametrize(
    ("cls", "version"), VERSIONS.items(), ids=lambda value: getattr(value, "__name__", value)
)
def test_versions_are_those_that_zun_takes(cls: Any, version: str) -> None:
    primitive = cls().obj_to_primitive()

    assert primitive == {
        "zun_object.name": cls.__name__,
        "zun_object.namespace": "zun",
        "zun_object.version": version,
        "zun_object.data": {},
    }


def test_containers_have_the_fields_of_the_contract() -> None:
    assert len(objects.Container.fields) == 48
    assert set(objects.Capsule.fields) - set(objects.Container.fields) == {"containers", "init_containers"}
    assert set(objects.CapsuleContainer.fields) - set(objects.Container.fields) == {"capsule_id"}


@pytest.mark.parametrize("version", ["1.44", "1.43", "1.0", "1.44.1"])
def test_this_and_older_minors_are_taken(wire: dict[str, Any], version: str) -> None:
    wire["zun_object.version"] = version

    assert from_wire(wire).name == "alpha"


@pytest.mark.parametrize("version", ["1.45", "2.0", "0.44"])
def test_newer_minors_and_other_majors_are_refused(wire: dict[str, Any], version: str) -> None:
    wire["zun_object.version"] = version

    with pytest.raises(exception.IncompatibleObjectVersion):
        from_wire(wire)


@pytest.mark.parametrize(
    ("key", "value"), [("zun_object.namespace", "nova"), ("zun_object.name", "NoSuchObject")]
)
def test_unknown_names_are_refused(wire: dict[str, Any], key: str, value: str) -> None:
    wire[key] = value

    with pytest.raises(exception.UnsupportedObjectError):
        from_wire(wire)


def test_unknown_fields_are_ignored(wire: dict[str, Any]) -> None:
    wire["zun_object.data"]["a_newer_field"] = 1

    assert from_wire(wire).name == "alpha"


def test_an_unset_field_reads_as_none_and_is_not_a_column(wire: dict[str, Any]) -> None:
    del wire["zun_object.data"]["entrypoint"]
    received = from_wire(wire)

    assert "entrypoint" not in convert.columns(received)
    assert received.entrypoint is None
    assert received.registry is None


def test_a_status_outside_the_vocabulary_is_refused(wire: dict[str, Any]) -> None:
    wire["zun_object.data"]["status"] = "Dancing"

    with pytest.raises(ValueError, match="Dancing"):
        from_wire(wire)


def test_times_with_fraction_and_offset_are_taken_as_they_read(wire: dict[str, Any]) -> None:
    wire["zun_object.data"]["started_at"] = "2026-11-29T16:14:36.250000+00:00"

    assert from_wire(wire).started_at.isoformat() == "2026-11-29T16:14:36.250000"


def test_objects_are_found_at_any_depth(wire: dict[str, Any]) -> None:
    received = from_wire({"deep": [{"deeper": wire}], "plain": 1})

    assert received["deep"][0]["deeper"].name == "alpha"
    assert received["plain"] == 1


def test_bytes_that_are_not_text_are_replaced_and_what_has_no_form_is_refused() -> None:
    assert to_wire({"out": b"ok \xff", "both": (1, {2})}) == {"out": "ok �", "both": [1, [2]]}
    with pytest.raises(TypeError):
        to_wire(object())


def test_secrets_are_masked_when_an_object_is_printed() -> None:
    registry = objects.Registry(id=1, domain="d", username="bob", password='"password": "hunter2"')

    assert "hunter2" not in repr(registry)


def test_the_registry_that_other_libraries_share_is_left_alone() -> None:
    assert "Container" not in base.VersionedObjectRegistry.obj_classes()
