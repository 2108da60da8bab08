"""Zun's schema at its head revision, and our first additions.

Frozen: later changes are later revisions. On a database that holds Zun's tables already, only the
additions are made.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

from tierce.db.migrations import steps

revision = "0001"
down_revision = None

ZUN_REVISION = "3f2b36231bee"
MEDIUM_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    if not steps.has_table("container"):
        _create_services_and_nodes()
        _create_containers()
        _create_volumes()
        _create_images_and_networks()
        _create_quotas()
        _create_placement_leftovers()
        _record_zun_revision()
    _add_ours()


def _record_zun_revision() -> None:
    table = op.create_table(
        "alembic_version", sa.Column("version_num", sa.String(32), primary_key=True, nullable=False)
    )
    op.bulk_insert(table, [{"version_num": ZUN_REVISION}])


def _create_services_and_nodes() -> None:
    steps.create_table(
        "zun_service",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("binary", sa.String(length=255), nullable=True),
        sa.Column("disabled", sa.Boolean(), nullable=True),
        sa.Column("disabled_reason", sa.String(length=255), nullable=True),
        sa.Column("last_seen_up", sa.DateTime(), nullable=True),
        sa.Column("forced_down", sa.Boolean(), nullable=True),
        sa.Column("report_count", sa.Integer(), nullable=False),
        sa.Column("availability_zone", sa.String(length=255), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("host", "binary", name="uniq_zun_service0host0binary"),
    )
    steps.create_table(
        "compute_node",
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("rp_uuid", sa.String(length=36), nullable=False),
        sa.Column("hostname", sa.String(length=255), nullable=False),
        sa.Column("numa_topology", sa.Text(), nullable=True),
        sa.Column("mem_total", sa.Integer(), nullable=False),
        sa.Column("mem_free", sa.Integer(), nullable=False),
        sa.Column("mem_available", sa.Integer(), nullable=False),
        sa.Column("mem_used", sa.Integer(), nullable=False),
        sa.Column("total_containers", sa.Integer(), nullable=False),
        sa.Column("running_containers", sa.Integer(), nullable=False),
        sa.Column("paused_containers", sa.Integer(), nullable=False),
        sa.Column("stopped_containers", sa.Integer(), nullable=False),
        sa.Column("cpus", sa.Integer(), nullable=False),
        sa.Column("cpu_used", sa.Float(), nullable=False),
        sa.Column("architecture", sa.String(length=32), nullable=True),
        sa.Column("os_type", sa.String(length=32), nullable=True),
        sa.Column("os", sa.String(length=64), nullable=True),
        sa.Column("kernel_version", sa.String(length=128), nullable=True),
        sa.Column("labels", sa.Text(), nullable=True),
        sa.Column("pci_stats", sa.Text(), nullable=True),
        sa.Column("disk_total", sa.Integer(), nullable=False),
        sa.Column("disk_used", sa.Integer(), nullable=False),
        sa.Column("disk_quota_supported", sa.Boolean(), server_default="0", nullable=False),
        sa.Column("runtimes", sa.Text(), nullable=True),
        sa.Column("enable_cpu_pinning", sa.Boolean(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("uuid"),
        sa.UniqueConstraint("rp_uuid", name="uniq_compute_node0rp_uuid"),
    )
    steps.create_table(
        "pci_device",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=True),
        sa.Column("compute_node_uuid", sa.String(length=36), nullable=False),
        sa.Column("address", sa.String(length=12), nullable=False),
        sa.Column("vendor_id", sa.String(length=4), nullable=False),
        sa.Column("product_id", sa.String(length=4), nullable=False),
        sa.Column("dev_type", sa.String(length=8), nullable=False),
        sa.Column("dev_id", sa.String(length=255), nullable=True),
        sa.Column("label", sa.String(length=255), nullable=False),
        sa.Column("status", sa.String(length=36), nullable=False),
        sa.Column("extra_info", sa.Text(), nullable=True),
        sa.Column("container_uuid", sa.String(length=36), nullable=True),
        sa.Column("numa_node", sa.Integer(), nullable=True),
        sa.Column("parent_addr", sa.String(length=12), nullable=True),
        sa.Column("request_id", sa.String(length=36), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["compute_node_uuid"],
            ["compute_node.uuid"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("compute_node_uuid", "address", name="uniq_pci_device0compute_node_uuid0address"),
    )
    op.create_index("ix_pci_device_compute_node_uuid", "pci_device", ["compute_node_uuid"], unique=False)
    op.create_index(
        "ix_pci_device_compute_node_uuid_parent_addr",
        "pci_device",
        ["compute_node_uuid", "parent_addr"],
        unique=False,
    )
    op.create_index("ix_pci_device_container_uuid", "pci_device", ["container_uuid"], unique=False)


def _create_containers() -> None:
    steps.create_table(
        "registry",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=True),
        sa.Column("user_id", sa.String(length=255), nullable=True),
        sa.Column("uuid", sa.String(length=36), nullable=True),
        sa.Column("name", sa.String(length=255), nullable=True),
        sa.Column("domain", sa.String(length=255), nullable=False),
        sa.Column("username", sa.String(length=255), nullable=True),
        sa.Column("password", sa.String(length=255), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("uuid", name="uniq_registry0uuid"),
    )
    steps.create_table(
        "container",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=True),
        sa.Column("user_id", sa.String(length=255), nullable=True),
        sa.Column("uuid", sa.String(length=36), nullable=True),
        sa.Column("name", sa.String(length=255), nullable=True),
        sa.Column("image", sa.String(length=255), nullable=True),
        sa.Column("command", sa.Text(), nullable=True),
        sa.Column("status", sa.String(length=20), nullable=True),
        sa.Column("environment", sa.Text(), nullable=True),
        sa.Column("container_id", sa.String(length=255), nullable=True),
        sa.Column("memory", sa.String(length=255), nullable=True),
        sa.Column("task_state", sa.String(length=20), nullable=True),
        sa.Column("cpu", sa.Float(), nullable=True),
        sa.Column("workdir", sa.String(length=255), nullable=True),
        sa.Column("ports", sa.Text(), nullable=True),
        sa.Column("hostname", sa.String(length=255), nullable=True),
        sa.Column("labels", sa.Text(), nullable=True),
        sa.Column("status_reason", sa.Text(), nullable=True),
        sa.Column("image_pull_policy", sa.Text(), nullable=True),
        sa.Column("addresses", sa.Text(), nullable=True),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("restart_policy", sa.Text(), nullable=True),
        sa.Column("status_detail", sa.String(length=50), nullable=True),
        sa.Column("image_driver", sa.Text(), nullable=True),
        sa.Column("interactive", sa.Boolean(), nullable=True),
        sa.Column("websocket_url", sa.String(length=255), nullable=True),
        sa.Column("websocket_token", sa.String(length=255), nullable=True),
        sa.Column("security_groups", sa.Text(), nullable=True),
        sa.Column("auto_remove", sa.Boolean(), nullable=True),
        sa.Column("runtime", sa.String(length=32), nullable=True),
        sa.Column("disk", sa.Integer(), nullable=True),
        sa.Column("auto_heal", sa.Boolean(), nullable=True),
        sa.Column("capsule_id", sa.Integer(), nullable=True),
        sa.Column("started_at", sa.DateTime(), nullable=True),
        sa.Column("privileged", sa.Boolean(), nullable=True),
        sa.Column("healthcheck", sa.Text(), nullable=True),
        sa.Column("exposed_ports", sa.Text(), nullable=True),
        sa.Column("cpu_policy", sa.String(length=255), nullable=True),
        sa.Column("cpuset", sa.Text(), nullable=True),
        sa.Column("registry_id", sa.Integer(), nullable=True),
        sa.Column("container_type", sa.Integer(), server_default="0", nullable=True),
        sa.Column("tty", sa.Boolean(), nullable=True),
        sa.Column("annotations", MEDIUM_TEXT, nullable=True),
        sa.Column("cni_metadata", MEDIUM_TEXT, nullable=True),
        sa.Column("entrypoint", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["capsule_id"], ["container.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["registry_id"],
            ["registry.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("uuid", name="uniq_container0uuid"),
    )
    op.create_index("capsule_id", "container", ["capsule_id"], unique=False)
    op.create_index("ix_container_container_type", "container", ["container_type"], unique=False)
    op.create_index("registry_id", "container", ["registry_id"], unique=False)
    steps.create_table(
        "exec_instance",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("container_id", sa.Integer(), nullable=False),
        sa.Column("exec_id", sa.String(length=255), nullable=False),
        sa.Column("token", sa.String(length=255), nullable=True),
        sa.Column("url", sa.String(length=255), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["container_id"], ["container.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("container_id", "exec_id", name="uniq_exec_instance0container_id_exec_id"),
    )
    steps.create_table(
        "container_actions",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("action", sa.String(length=255), nullable=True),
        sa.Column("container_uuid", sa.String(length=36), nullable=False),
        sa.Column("request_id", sa.String(length=255), nullable=True),
        sa.Column("user_id", sa.String(length=255), nullable=True),
        sa.Column("project_id", sa.String(length=255), nullable=True),
        sa.Column("start_time", sa.DateTime(), nullable=True),
        sa.Column("finish_time", sa.DateTime(), nullable=True),
        sa.Column("message", sa.String(length=255), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["container_uuid"], ["container.uuid"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("container_uuid_idx", "container_actions", ["container_uuid"], unique=False)
    op.create_index("request_id_idx", "container_actions", ["request_id"], unique=False)
    steps.create_table(
        "container_actions_events",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("event", sa.String(length=255), nullable=True),
        sa.Column("action_id", sa.Integer(), nullable=False),
        sa.Column("start_time", sa.DateTime(), nullable=True),
        sa.Column("finish_time", sa.DateTime(), nullable=True),
        sa.Column("result", sa.String(length=255), nullable=True),
        sa.Column("traceback", sa.Text(), nullable=True),
        sa.Column("details", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["action_id"], ["container_actions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("action_id", "container_actions_events", ["action_id"], unique=False)


def _create_volumes() -> None:
    # Key names are global in PostgreSQL, and per table elsewhere, where Zun uses this one twice.
    mapping_key = (
        "uniq_volume_mapping0uuid" if op.get_bind().dialect.name == "postgresql" else "uniq_volume0uuid"
    )
    steps.create_table(
        "volume",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=True),
        sa.Column("user_id", sa.String(length=255), nullable=True),
        sa.Column("cinder_volume_id", sa.String(length=36), nullable=True),
        sa.Column("volume_provider", sa.String(length=36), nullable=False),
        sa.Column("connection_info", MEDIUM_TEXT, nullable=True),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("auto_remove", sa.Boolean(), nullable=True),
        sa.Column("contents", MEDIUM_TEXT, nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("uuid", name="uniq_volume0uuid"),
    )
    steps.create_table(
        "volume_mapping",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=True),
        sa.Column("user_id", sa.String(length=255), nullable=True),
        sa.Column("container_uuid", sa.String(length=36), nullable=True),
        sa.Column("container_path", sa.String(length=255), nullable=True),
        sa.Column("volume_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["container_uuid"],
            ["container.uuid"],
        ),
        sa.ForeignKeyConstraint(["volume_id"], ["volume.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("uuid", name=mapping_key),
    )
    op.create_index("container_uuid", "volume_mapping", ["container_uuid"], unique=False)
    op.create_index("volume_id", "volume_mapping", ["volume_id"], unique=False)


def _create_images_and_networks() -> None:
    steps.create_table(
        "image",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=True),
        sa.Column("user_id", sa.String(length=255), nullable=True),
        sa.Column("uuid", sa.String(length=36), nullable=True),
        sa.Column("image_id", sa.String(length=255), nullable=True),
        sa.Column("repo", sa.String(length=255), nullable=True),
        sa.Column("tag", sa.String(length=255), nullable=True),
        sa.Column("size", sa.String(length=255), nullable=True),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("repo", "tag", "host", name="uniq_image0repotaghost"),
    )
    steps.create_table(
        "network",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=True),
        sa.Column("user_id", sa.String(length=255), nullable=True),
        sa.Column("name", sa.String(length=255), nullable=True),
        sa.Column("uuid", sa.String(length=36), nullable=True),
        sa.Column("network_id", sa.String(length=255), nullable=True),
        sa.Column("neutron_net_id", sa.String(length=255), nullable=True),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("neutron_net_id", "host", name="uniq_network0neutron_net_id_host"),
        sa.UniqueConstraint("uuid", name="uniq_network0uuid"),
    )


def _create_quotas() -> None:
    steps.create_table(
        "quotas",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=True),
        sa.Column("resource", sa.String(length=255), nullable=False),
        sa.Column("hard_limit", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_quotas_project_id", "quotas", ["project_id"], unique=False)
    steps.create_table(
        "quota_classes",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("class_name", sa.String(length=255), nullable=True),
        sa.Column("resource", sa.String(length=255), nullable=True),
        sa.Column("hard_limit", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("quota_classes_class_name_idx", "quota_classes", ["class_name"], unique=False)
    steps.create_table(
        "quota_usages",
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=True),
        sa.Column("resource", sa.String(length=255), nullable=False),
        sa.Column("in_use", sa.Integer(), nullable=False),
        sa.Column("reserved", sa.Integer(), nullable=False),
        sa.Column("until_refresh", sa.Integer(), nullable=True),
    )
    op.create_index("ix_quota_usages_project_id", "quota_usages", ["project_id"], unique=False)


def _create_placement_leftovers() -> None:
    steps.create_table(
        "resource_provider",
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("root_provider", sa.String(length=36), nullable=False),
        sa.Column("parent_provider", sa.String(length=36), nullable=True),
        sa.Column("can_host", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("uuid", name="uniq_resource_provider0uuid"),
    )
    steps.create_table(
        "resource_class",
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("uuid", name="uniq_resource_class0uuid"),
    )
    steps.create_table(
        "inventory",
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("resource_provider_id", sa.Integer(), nullable=False),
        sa.Column("resource_class_id", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("reserved", sa.Integer(), nullable=False),
        sa.Column("min_unit", sa.Integer(), nullable=False),
        sa.Column("max_unit", sa.Integer(), nullable=False),
        sa.Column("step_size", sa.Integer(), nullable=False),
        sa.Column("is_nested", sa.Integer(), nullable=False),
        sa.Column("allocation_ratio", sa.Float(), nullable=False),
        sa.Column("blob", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint(
            "resource_provider_id",
            "resource_class_id",
            name="uniq_inventory0resource_provider_resource_class",
        ),
    )
    op.create_index("inventory_resource_class_id_idx", "inventory", ["resource_class_id"], unique=False)
    op.create_index("inventory_resource_provider_id_idx", "inventory", ["resource_provider_id"], unique=False)
    op.create_index(
        "inventory_resource_provider_resource_class_idx",
        "inventory",
        ["resource_provider_id", "resource_class_id"],
        unique=False,
    )
    steps.create_table(
        "allocation",
        sa.Column("created_at", sa.DateTime(), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=True),
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("resource_provider_id", sa.Integer(), nullable=False),
        sa.Column("resource_class_id", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("is_nested", sa.Integer(), nullable=False),
        sa.Column("consumer_id", sa.String(length=36), nullable=False),
        sa.Column("blob", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("allocation_consumer_id_idx", "allocation", ["consumer_id"], unique=False)
    op.create_index("allocation_resource_class_id_idx", "allocation", ["resource_class_id"], unique=False)
    op.create_index(
        "allocation_resource_provider_class_used_idx",
        "allocation",
        ["resource_provider_id", "resource_class_id", "used"],
        unique=False,
    )


def _add_ours() -> None:
    steps.add_columns(
        "container",
        sa.Column("generation", sa.Integer(), server_default="0", nullable=False),
        sa.Column("name_key", sa.String(length=64), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("finished_at", sa.DateTime(), nullable=True),
    )
    steps.create_index("ix_container_host", "container", "host")
    steps.create_index("ix_container_name", "container", "name")
    steps.create_index("ix_container_project_id", "container", "project_id container_type id")
    steps.create_index("uniq_container0name_key", "container", "name_key", unique=True)
    steps.add_columns(
        "container_actions",
        sa.Column("state", sa.String(length=16), nullable=True),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("arguments", MEDIUM_TEXT, nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=True),
        sa.Column("lease_expires_at", sa.DateTime(), nullable=True),
    )
    steps.create_index("ix_container_actions_host_state", "container_actions", "host state")
    steps.create_table(
        "tierce_project_lock",
        sa.Column("project_id", sa.String(length=255), nullable=False),
        sa.PrimaryKeyConstraint("project_id"),
    )
    steps.create_table(
        "tierce_allocation",
        sa.Column("consumer_uuid", sa.String(length=36), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("vcpus", sa.Integer(), nullable=False),
        sa.Column("memory_mb", sa.Integer(), nullable=False),
        sa.Column("disk_gb", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("consumer_uuid"),
        sa.Index("ix_tierce_allocation_host", "host"),
    )
