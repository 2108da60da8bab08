"""The schema as other databases would be told it: it compiles, and keys have the names that others know."""

import collections

import pytest
from sqlalchemy import Index, Table, UniqueConstraint
from sqlalchemy.dialects import mysql, postgresql
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from tierce.db.tables import Base

TABLES = list(Base.metadata.sorted_tables)
DIALECTS: list[Dialect] = [mysql.dialect(), postgresql.dialect()]

KEYS = {
    "zun_service": {"uniq_zun_service0host0binary": "host binary"},
    "container": {
        "uniq_container0uuid": "uuid",
        "ix_container_container_type": "container_type",
        "registry_id": "registry_id",
        "capsule_id": "capsule_id",
        "ix_container_project_id": "project_id container_type id",
        "ix_container_state": "project_id container_type generation updated_at",
        "ix_container_created_at": "container_type created_at id",
        "ix_container_status": "status",
        "ix_container_host": "host",
        "ix_container_name": "name",
        "uniq_container0name_key": "name_key",
    },
    "volume": {"uniq_volume0uuid": "uuid"},
    "volume_mapping": {
        "uniq_volume0uuid": "uuid",
        "container_uuid": "container_uuid",
        "volume_id": "volume_id",
    },
    "exec_instance": {"uniq_exec_instance0container_id_exec_id": "container_id exec_id"},
    "image": {"uniq_image0repotaghost": "repo tag host", "ix_image_uuid": "uuid"},
    "compute_node": {"uniq_compute_node0rp_uuid": "rp_uuid", "ix_compute_node_hostname": "hostname"},
    "pci_device": {
        "uniq_pci_device0compute_node_uuid0address": "compute_node_uuid address",
        "ix_pci_device_compute_node_uuid": "compute_node_uuid",
        "ix_pci_device_container_uuid": "container_uuid",
        "ix_pci_device_compute_node_uuid_parent_addr": "compute_node_uuid parent_addr",
    },
    "container_actions": {
        "container_uuid_idx": "container_uuid",
        "request_id_idx": "request_id",
        "ix_container_actions_host_state": "host state",
    },
    "container_actions_events": {"action_id": "action_id"},
    "quotas": {"ix_quotas_project_id": "project_id"},
    "quota_classes": {"quota_classes_class_name_idx": "class_name"},
    "quota_usages": {"ix_quota_usages_project_id": "project_id"},
    "network": {
        "uniq_network0uuid": "uuid",
        "uniq_network0neutron_net_id_host": "neutron_net_id host",
    },
    "registry": {"uniq_registry0uuid": "uuid"},
    "resource_provider": {"uniq_resource_provider0uuid": "uuid"},
    "resource_class": {"uniq_resource_class0uuid": "uuid"},
    "inventory": {
        "uniq_inventory0resource_provider_resource_class": "resource_provider_id resource_class_id",
        "inventory_resource_provider_id_idx": "resource_provider_id",
        "inventory_resource_class_id_idx": "resource_class_id",
        "inventory_resource_provider_resource_class_idx": "resource_provider_id resource_class_id",
    },
    "allocation": {
        "allocation_resource_provider_class_used_idx": "resource_provider_id resource_class_id used",
        "allocation_resource_class_id_idx": "resource_class_id",
        "allocation_consumer_id_idx": "consumer_id",
    },
    "tierce_project_lock": {},
    "tierce_allocation": {"ix_tierce_allocation_host": "host"},
    "tierce_attach_session": {"ix_tierce_attach_session_container_id": "container_id"},
    "tierce_cloud": {},
}
"""Table -> key -> columns: programs learn from a key's name which columns made a duplicate."""

DELETE_RULES = {
    "container.registry_id": None,
    "container.capsule_id": "CASCADE",
    "volume_mapping.container_uuid": None,
    "volume_mapping.volume_id": "CASCADE",
    "exec_instance.container_id": "CASCADE",
    "tierce_attach_session.container_id": "CASCADE",
    "pci_device.compute_node_uuid": None,
    "container_actions.container_uuid": "CASCADE",
    "container_actions_events.action_id": "CASCADE",
}


def keys(table: Table) -> list[Index | UniqueConstraint]:
    return [*table.indexes, *(each for each in table.constraints if isinstance(each, UniqueConstraint))]


def test_every_key_has_its_known_name_and_columns() -> None:
    assert {
        table.name: {str(key.name): " ".join(column.name for column in key.columns) for key in keys(table)}
        for table in TABLES
    } == KEYS


def test_every_foreign_key_has_its_known_rule_of_deletion() -> None:
    assert {
        f"{table.name}.{key.parent.name}": key.ondelete for table in TABLES for key in table.foreign_keys
    } == DELETE_RULES


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_it_compiles_with_the_names_of_its_keys(table: Table, dialect: Dialect) -> None:
    text = str(CreateTable(table).compile(dialect=dialect))
    text += "".join(str(CreateIndex(index).compile(dialect=dialect)) for index in table.indexes)
    assert all(str(key.name) in text for key in keys(table))


def test_long_texts_are_medium_text_where_text_is_short() -> None:
    medium = {
        f"{table.name}.{column.name}"
        for table in TABLES
        for column in table.columns
        if column.type.compile(mysql.dialect()) == "MEDIUMTEXT"
    }
    assert medium == {
        "container.annotations",
        "container.cni_metadata",
        "volume.connection_info",
        "volume.contents",
        "container_actions.arguments",
    }


def test_names_of_keys_fit_every_database() -> None:
    assert [key.name for table in TABLES for key in keys(table) if len(str(key.name)) > 63] == []


def test_only_one_name_of_a_key_is_used_twice() -> None:
    """Where such names are global, the migration gives this one another."""
    names = collections.Counter(str(key.name) for table in TABLES for key in keys(table))
    names.update(table.name for table in TABLES)
    assert {name for name, count in names.items() if count > 1} == {"uniq_volume0uuid"}
