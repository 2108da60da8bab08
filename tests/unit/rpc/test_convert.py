"""Rows to wire forms and back."""

import datetime
import json
import types
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierce.model.lifecycle import ContainerType
from tierce.rpc import convert, objects
from tierce.rpc.serializer import from_wire


def as_versioned_object(cls: Any, row: Any) -> dict[str, Any]:
    """The wire form that the library itself makes, attribute by attribute."""
    made = cls()
    for name in cls.fields:
        if name not in objects.RELATED:
            setattr(made, name, getattr(row, name))
    made.obj_reset_changes(recursive=True)
    primitive: dict[str, Any] = json.loads(json.dumps(made.obj_to_primitive()))
    return primitive


@pytest.mark.parametrize(
    ("kind", "cls"),
    [
        (ContainerType.CONTAINER, objects.Container),
        (ContainerType.CAPSULE, objects.Capsule),
        (ContainerType.CAPSULE_CONTAINER, objects.CapsuleContainer),
        (ContainerType.CAPSULE_INIT_CONTAINER, objects.CapsuleInitContainer),
    ],
)
def test_the_fast_way_gives_what_the_library_gives(container: Any, kind: int, cls: Any) -> None:
    container.container_type, container.capsule_id = kind, 5
    fast = convert.container_to_wire(container)

    cpuset = container.cpuset
    container.cpuset = objects.Cpuset(**{name: set(cpus) for name, cpus in cpuset.items()})
    assert fast == as_versioned_object(cls, container)


@pytest.mark.parametrize(
    ("to_wire", "cls"),
    [(convert.network_to_wire, objects.ZunNetwork), (convert.image_to_wire, objects.Image)],
)
def test_other_rows_too(to_wire: Any, cls: Any) -> None:
    row = types.SimpleNamespace(**dict.fromkeys(cls.fields, "text"))
    row.id, row.created_at, row.updated_at = 3, datetime.datetime.fromisoformat("2026-01-02T03:04:05"), None

    assert to_wire(row) == as_versioned_object(cls, row)


def test_a_container_arrives_as_the_row_that_it_was(container: Any) -> None:
    received = from_wire(convert.container_to_wire(container))

    sent = vars(container).copy()
    del sent["container_type"], sent["capsule_id"]
    assert convert.columns(received) == sent
    assert convert.changes(received) == {}


_LEAF = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text()
_JSON = st.recursive(_LEAF, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5)
_TEXT = st.none() | st.text()
_STRINGS = st.dictionaries(st.text(), st.text(), max_size=3)


@given(
    text=_TEXT,
    strings=_STRINGS,
    words=st.lists(st.text(), max_size=3),
    anything=st.dictionaries(st.text(), _JSON, max_size=3),
    moment=st.none() | st.datetimes(datetime.datetime.fromisoformat("1970-01-01")),
)
def test_any_value_of_a_column_survives(
    text: str | None, strings: dict[str, str], words: list[str], anything: Any, moment: Any
) -> None:
    row = types.SimpleNamespace(**dict.fromkeys(objects.Container.fields), container_type=0)
    row.id, row.name, row.labels, row.command = 1, text, strings, words
    row.addresses, row.started_at = anything, moment

    wire = json.loads(json.dumps(convert.container_to_wire(row)))
    columns = convert.columns(from_wire(wire))

    assert (columns["name"], columns["labels"], columns["command"]) == (text, strings, words)
    assert columns["addresses"] == anything
    # Fractions of a second do not travel.
    assert columns["started_at"] == (moment and moment.replace(microsecond=0))


def test_json_columns_travel_as_text_and_both_forms_are_taken(container: Any) -> None:
    wire = convert.container_to_wire(container)
    assert json.loads(wire["zun_object.data"]["addresses"]) == container.addresses

    wire["zun_object.data"]["addresses"] = {"net": []}
    assert convert.columns(from_wire(wire))["addresses"] == {"net": []}


def test_related_rows_and_so_the_password_of_a_registry_stay_here(container: Any) -> None:
    container.registry = types.SimpleNamespace(password="hunter2")

    wire = convert.container_to_wire(container)

    assert not objects.RELATED & set(wire["zun_object.data"])
    assert wire["zun_object.data"]["registry_id"] == 7


def test_a_pinned_container_keeps_its_cpus_and_an_unpinned_one_says_so(container: Any) -> None:
    assert convert.columns(from_wire(convert.container_to_wire(container)))["cpuset"] == {
        "cpuset_cpus": [1, 3],
        "cpuset_mems": [0],
    }
    container.cpuset = {}
    assert convert.columns(from_wire(convert.container_to_wire(container)))["cpuset"] == {
        "cpuset_cpus": None,
        "cpuset_mems": None,
    }


def test_what_the_sender_changed_is_told_apart(container: Any) -> None:
    wire = convert.container_to_wire(container)
    wire["zun_object.data"]["status"] = "Deleting"
    wire["zun_object.changes"] = ["status", "uuid", "no_such_field"]

    assert convert.changes(from_wire(wire)) == {"status": "Deleting"}


def test_a_capsule_takes_its_members_along(container: Any) -> None:
    container.container_type = ContainerType.CAPSULE
    member = types.SimpleNamespace(**vars(container))
    member.container_type, member.capsule_id, member.name = ContainerType.CAPSULE_CONTAINER, 1, "member"
    first = types.SimpleNamespace(**vars(member))
    first.container_type, first.name = ContainerType.CAPSULE_INIT_CONTAINER, "first"

    capsule = from_wire(convert.capsule_to_wire(container, [member], [first]))

    assert capsule.obj_name() == "Capsule"
    assert [(one.obj_name(), one.name, one.capsule_id) for one in capsule.containers] == [
        ("CapsuleContainer", "member", 1)
    ]
    assert [(one.obj_name(), one.name) for one in capsule.init_containers] == [
        ("CapsuleInitContainer", "first")
    ]


def test_an_unsaved_mount_marks_all_that_it_sets() -> None:
    mount = {"project_id": "p", "container_path": "/data", "volume_id": 1, "contents": None}

    wire = convert.volume_mapping_to_wire(mount)

    assert wire["zun_object.data"] == mount
    assert set(wire["zun_object.changes"]) == set(mount)
