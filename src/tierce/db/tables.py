"""The schema: Zun's at its head revision 3f2b36231bee, and our additions.

Names, types, keys and delete rules of Zun's tables are kept, as its processes may run on the same
database while a cloud moves over. What is ours is marked `ours`, is nullable or has a server
default, and is invisible to them. Differences between a column here and its meaning are in the
reference; this module only declares.
"""

import datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from tierce.db.types import JSONDict, JSONList, JSONValue, MediumText, Message, MessageLine, Moment

ZUN_REVISION = "3f2b36231bee"


class Base(DeclarativeBase):
    metadata = MetaData()


class _Unmapped:
    """An attribute that a query fills beside the columns; None until then."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, instance: object, owner: type) -> str | None:
        return instance.__dict__.get(self._name) if instance is not None else None

    def __set__(self, instance: object, value: str | None) -> None:
        instance.__dict__[self._name] = value


class Timestamps:
    """Naive UTC; `updated_at` is NULL until the first update."""

    created_at: Mapped[datetime.datetime | None] = mapped_column(Moment)
    updated_at: Mapped[datetime.datetime | None] = mapped_column(Moment)


class Service(Timestamps, Base):
    """A node agent and its heartbeat."""

    __tablename__ = "zun_service"
    __table_args__ = (UniqueConstraint("host", "binary", name="uniq_zun_service0host0binary"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    host: Mapped[str | None] = mapped_column(String(255))
    binary: Mapped[str | None] = mapped_column(String(255))
    disabled: Mapped[bool | None] = mapped_column(Boolean, default=False)
    disabled_reason: Mapped[str | None] = mapped_column(String(255))
    last_seen_up: Mapped[datetime.datetime | None] = mapped_column(Moment)
    forced_down: Mapped[bool | None] = mapped_column(Boolean, default=False)
    report_count: Mapped[int] = mapped_column(Integer, default=0)
    availability_zone: Mapped[str | None] = mapped_column(String(255))
    # ours: who writes the heartbeats
    installation: Mapped[str | None] = mapped_column(String(36))
    incarnation: Mapped[str | None] = mapped_column(String(36))


class Registry(Timestamps, Base):
    """Credentials of a private registry."""

    __tablename__ = "registry"
    __table_args__ = (UniqueConstraint("uuid", name="uniq_registry0uuid"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    project_id: Mapped[str | None] = mapped_column(String(255))
    user_id: Mapped[str | None] = mapped_column(String(255))
    uuid: Mapped[str | None] = mapped_column(String(36))
    name: Mapped[str | None] = mapped_column(String(255))
    domain: Mapped[str] = mapped_column(String(255))
    username: Mapped[str | None] = mapped_column(String(255))
    password: Mapped[str | None] = mapped_column(String(255))


class Container(Timestamps, Base):
    """Containers, capsules and capsule members, told apart by `container_type`."""

    __tablename__ = "container"
    __table_args__ = (
        UniqueConstraint("uuid", name="uniq_container0uuid"),
        Index("ix_container_container_type", "container_type"),
        Index("registry_id", "registry_id"),
        Index("capsule_id", "capsule_id"),
        # ours: lists are by project, or by age or status; nodes look for their own; names are looked up;
        # and whether a project's list has changed is read from an index alone
        Index("ix_container_project_id", "project_id", "container_type", "id"),
        Index("ix_container_created_at", "container_type", "created_at", "id"),
        Index("ix_container_state", "project_id", "container_type", "generation", "updated_at"),
        Index("ix_container_status", "status"),
        Index("ix_container_host", "host"),
        Index("ix_container_name", "name"),
        Index("uniq_container0name_key", "name_key", unique=True),
    )

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    project_id: Mapped[str | None] = mapped_column(String(255))
    user_id: Mapped[str | None] = mapped_column(String(255))
    uuid: Mapped[str] = mapped_column(String(36), nullable=True)
    name: Mapped[str | None] = mapped_column(String(255))
    image: Mapped[str | None] = mapped_column(String(255))
    command: Mapped[list[str]] = mapped_column(JSONList, nullable=True)
    status: Mapped[str | None] = mapped_column(String(20))
    environment: Mapped[dict[str, str]] = mapped_column(JSONDict, nullable=True)
    container_id: Mapped[str | None] = mapped_column(String(255))
    memory: Mapped[str | None] = mapped_column(String(255))
    task_state: Mapped[str | None] = mapped_column(String(20))
    cpu: Mapped[float | None] = mapped_column(Float)
    workdir: Mapped[str | None] = mapped_column(String(255))
    ports: Mapped[list[int]] = mapped_column(JSONList, nullable=True)
    hostname: Mapped[str | None] = mapped_column(String(255))
    labels: Mapped[dict[str, str]] = mapped_column(JSONDict, nullable=True)
    status_reason: Mapped[str | None] = mapped_column(Message)
    image_pull_policy: Mapped[str | None] = mapped_column(Text)
    addresses: Mapped[dict[str, Any]] = mapped_column(JSONDict, nullable=True)
    host: Mapped[str | None] = mapped_column(String(255))
    restart_policy: Mapped[dict[str, str]] = mapped_column(JSONDict, nullable=True)
    status_detail: Mapped[str | None] = mapped_column(MessageLine(50))
    image_driver: Mapped[str | None] = mapped_column(Text)
    interactive: Mapped[bool | None] = mapped_column(Boolean, default=False)
    websocket_url: Mapped[str | None] = mapped_column(String(255))
    websocket_token: Mapped[str | None] = mapped_column(String(255))
    security_groups: Mapped[list[str]] = mapped_column(JSONList, nullable=True)
    auto_remove: Mapped[bool | None] = mapped_column(Boolean, default=False)
    runtime: Mapped[str | None] = mapped_column(String(32))
    disk: Mapped[int | None] = mapped_column(Integer, default=0)
    auto_heal: Mapped[bool | None] = mapped_column(Boolean, default=False)
    capsule_id: Mapped[int | None] = mapped_column(ForeignKey("container.id", ondelete="CASCADE"))
    started_at: Mapped[datetime.datetime | None] = mapped_column(Moment)
    privileged: Mapped[bool | None] = mapped_column(Boolean, default=False)
    healthcheck: Mapped[dict[str, Any]] = mapped_column(JSONDict, nullable=True)
    exposed_ports: Mapped[dict[str, Any]] = mapped_column(JSONDict, nullable=True)
    cpu_policy: Mapped[str | None] = mapped_column(String(255), default="shared")
    cpuset: Mapped[dict[str, Any]] = mapped_column(JSONDict, nullable=True)
    registry_id: Mapped[int | None] = mapped_column(ForeignKey("registry.id"))
    container_type: Mapped[int | None] = mapped_column(Integer, default=0, server_default="0")
    tty: Mapped[bool | None] = mapped_column(Boolean, default=False)
    annotations: Mapped[Any] = mapped_column(JSONValue, nullable=True)
    cni_metadata: Mapped[Any] = mapped_column(JSONValue, nullable=True)
    entrypoint: Mapped[list[str]] = mapped_column(JSONList, nullable=True)

    # ours: compare-and-swap, race-free names, and how it ended
    generation: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    name_key: Mapped[str | None] = mapped_column(String(64))
    exit_code: Mapped[int | None] = mapped_column(Integer)
    finished_at: Mapped[datetime.datetime | None] = mapped_column(Moment)

    registry_uuid = _Unmapped()


class Volume(Timestamps, Base):
    """A volume behind one or more mounts."""

    __tablename__ = "volume"
    __table_args__ = (UniqueConstraint("uuid", name="uniq_volume0uuid"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    uuid: Mapped[str] = mapped_column(String(36))
    project_id: Mapped[str | None] = mapped_column(String(255))
    user_id: Mapped[str | None] = mapped_column(String(255))
    cinder_volume_id: Mapped[str | None] = mapped_column(String(36))
    volume_provider: Mapped[str] = mapped_column(String(36))
    connection_info: Mapped[Any] = mapped_column(JSONValue, nullable=True)
    host: Mapped[str | None] = mapped_column(String(255))
    auto_remove: Mapped[bool | None] = mapped_column(Boolean, default=False)
    contents: Mapped[str | None] = mapped_column(MediumText)


class VolumeMapping(Timestamps, Base):
    """One mount: a volume at a path of a container."""

    __tablename__ = "volume_mapping"
    __table_args__ = (
        UniqueConstraint("uuid", name="uniq_volume0uuid"),
        Index("container_uuid", "container_uuid"),
        Index("volume_id", "volume_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    uuid: Mapped[str] = mapped_column(String(36))
    project_id: Mapped[str | None] = mapped_column(String(255))
    user_id: Mapped[str | None] = mapped_column(String(255))
    container_uuid: Mapped[str | None] = mapped_column(ForeignKey("container.uuid"))
    container_path: Mapped[str | None] = mapped_column(String(255))
    volume_id: Mapped[int] = mapped_column(ForeignKey("volume.id", ondelete="CASCADE"))


class ExecInstance(Timestamps, Base):
    """An exec session that a client may connect to."""

    __tablename__ = "exec_instance"
    __table_args__ = (
        UniqueConstraint("container_id", "exec_id", name="uniq_exec_instance0container_id_exec_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    container_id: Mapped[int] = mapped_column(ForeignKey("container.id", ondelete="CASCADE"))
    exec_id: Mapped[str] = mapped_column(String(255))
    token: Mapped[str | None] = mapped_column(String(255))
    url: Mapped[str | None] = mapped_column(String(255))

    # ours: what its terminal shall be, in characters
    height: Mapped[int | None] = mapped_column(Integer)
    width: Mapped[int | None] = mapped_column(Integer)


class Image(Timestamps, Base):
    """A pull that somebody asked for, one per (repo, tag, host)."""

    __tablename__ = "image"
    __table_args__ = (
        UniqueConstraint("repo", "tag", "host", name="uniq_image0repotaghost"),
        Index("ix_image_uuid", "uuid"),  # ours
    )

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    project_id: Mapped[str | None] = mapped_column(String(255))
    user_id: Mapped[str | None] = mapped_column(String(255))
    uuid: Mapped[str | None] = mapped_column(String(36))
    image_id: Mapped[str | None] = mapped_column(String(255))
    repo: Mapped[str | None] = mapped_column(String(255))
    tag: Mapped[str | None] = mapped_column(String(255))
    size: Mapped[str | None] = mapped_column(String(255))
    host: Mapped[str | None] = mapped_column(String(255))


class ComputeNode(Timestamps, Base):
    """What a node is and has: memory in MiB, disk in GiB."""

    __tablename__ = "compute_node"
    __table_args__ = (
        UniqueConstraint("rp_uuid", name="uniq_compute_node0rp_uuid"),
        Index("ix_compute_node_hostname", "hostname"),  # ours
    )

    uuid: Mapped[str] = mapped_column(String(36), primary_key=True)
    rp_uuid: Mapped[str] = mapped_column(String(36))
    hostname: Mapped[str] = mapped_column(String(255))
    numa_topology: Mapped[dict[str, Any]] = mapped_column(JSONDict, nullable=True)
    mem_total: Mapped[int] = mapped_column(Integer, default=0)
    mem_free: Mapped[int] = mapped_column(Integer, default=0)
    mem_available: Mapped[int] = mapped_column(Integer, default=0)
    mem_used: Mapped[int] = mapped_column(Integer, default=0)
    total_containers: Mapped[int] = mapped_column(Integer, default=0)
    running_containers: Mapped[int] = mapped_column(Integer, default=0)
    paused_containers: Mapped[int] = mapped_column(Integer, default=0)
    stopped_containers: Mapped[int] = mapped_column(Integer, default=0)
    cpus: Mapped[int] = mapped_column(Integer, default=0)
    cpu_used: Mapped[float] = mapped_column(Float, default=0.0)
    architecture: Mapped[str | None] = mapped_column(String(32))
    os_type: Mapped[str | None] = mapped_column(String(32))
    os: Mapped[str | None] = mapped_column(String(64))
    kernel_version: Mapped[str | None] = mapped_column(String(128))
    labels: Mapped[dict[str, str]] = mapped_column(JSONDict, nullable=True)
    pci_stats: Mapped[str | None] = mapped_column(Text)
    disk_total: Mapped[int] = mapped_column(Integer, default=0)
    disk_used: Mapped[int] = mapped_column(Integer, default=0)
    disk_quota_supported: Mapped[bool] = mapped_column(Boolean, default=False, server_default="0")
    runtimes: Mapped[list[str]] = mapped_column(JSONList, nullable=True)
    enable_cpu_pinning: Mapped[bool] = mapped_column(Boolean, default=False, server_default="0")

    # ours: whether its runtime did not answer when it was last asked
    runtime_away: Mapped[bool | None] = mapped_column(Boolean)


class PciDevice(Timestamps, Base):
    """An SR-IOV device of a node."""

    __tablename__ = "pci_device"
    __table_args__ = (
        UniqueConstraint("compute_node_uuid", "address", name="uniq_pci_device0compute_node_uuid0address"),
        Index("ix_pci_device_compute_node_uuid", "compute_node_uuid"),
        Index("ix_pci_device_container_uuid", "container_uuid"),
        Index("ix_pci_device_compute_node_uuid_parent_addr", "compute_node_uuid", "parent_addr"),
    )

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    uuid: Mapped[str | None] = mapped_column(String(36))
    compute_node_uuid: Mapped[str] = mapped_column(ForeignKey("compute_node.uuid"))
    address: Mapped[str] = mapped_column(String(12))
    vendor_id: Mapped[str] = mapped_column(String(4))
    product_id: Mapped[str] = mapped_column(String(4))
    dev_type: Mapped[str] = mapped_column(String(8))
    dev_id: Mapped[str | None] = mapped_column(String(255))
    label: Mapped[str] = mapped_column(String(255))
    status: Mapped[str] = mapped_column(String(36))
    extra_info: Mapped[str | None] = mapped_column(Text)
    container_uuid: Mapped[str | None] = mapped_column(String(36))
    numa_node: Mapped[int | None] = mapped_column(Integer)
    parent_addr: Mapped[str | None] = mapped_column(String(12))
    request_id: Mapped[str | None] = mapped_column(String(36))


class ContainerAction(Timestamps, Base):
    """The audit trail, and (ours) the queue of durable actions."""

    __tablename__ = "container_actions"
    __table_args__ = (
        Index("container_uuid_idx", "container_uuid"),
        Index("request_id_idx", "request_id"),
        Index("ix_container_actions_host_state", "host", "state"),
    )

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    action: Mapped[str | None] = mapped_column(String(255))
    container_uuid: Mapped[str] = mapped_column(ForeignKey("container.uuid", ondelete="CASCADE"))
    request_id: Mapped[str | None] = mapped_column(String(255))
    user_id: Mapped[str | None] = mapped_column(String(255))
    project_id: Mapped[str | None] = mapped_column(String(255))
    start_time: Mapped[datetime.datetime | None] = mapped_column(Moment)
    finish_time: Mapped[datetime.datetime | None] = mapped_column(Moment)
    message: Mapped[str | None] = mapped_column(String(255))

    # ours
    state: Mapped[str | None] = mapped_column(String(16))
    host: Mapped[str | None] = mapped_column(String(255))
    arguments: Mapped[Any] = mapped_column(JSONValue, nullable=True)
    attempts: Mapped[int | None] = mapped_column(Integer)
    lease_expires_at: Mapped[datetime.datetime | None] = mapped_column(Moment)


class ContainerActionEvent(Timestamps, Base):
    """One stage of an action on the node."""

    __tablename__ = "container_actions_events"
    __table_args__ = (Index("action_id", "action_id"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    event: Mapped[str | None] = mapped_column(String(255))
    action_id: Mapped[int] = mapped_column(ForeignKey("container_actions.id", ondelete="CASCADE"))
    start_time: Mapped[datetime.datetime | None] = mapped_column(Moment)
    finish_time: Mapped[datetime.datetime | None] = mapped_column(Moment)
    result: Mapped[str | None] = mapped_column(String(255))
    traceback: Mapped[str | None] = mapped_column(Message)
    details: Mapped[str | None] = mapped_column(Message)


class Quota(Timestamps, Base):
    """A project's own limit; -1 is unlimited. Of several rows the highest id counts."""

    __tablename__ = "quotas"
    __table_args__ = (Index("ix_quotas_project_id", "project_id"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    project_id: Mapped[str | None] = mapped_column(String(255))
    resource: Mapped[str] = mapped_column(String(255))
    hard_limit: Mapped[int | None] = mapped_column(Integer)


class QuotaClass(Timestamps, Base):
    """Limits of projects that have none of their own (class `default`)."""

    __tablename__ = "quota_classes"
    __table_args__ = (Index("quota_classes_class_name_idx", "class_name"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    class_name: Mapped[str | None] = mapped_column(String(255))
    resource: Mapped[str | None] = mapped_column(String(255))
    hard_limit: Mapped[int | None] = mapped_column(Integer)


class Network(Timestamps, Base):
    """The engine's network behind a Neutron network, per node."""

    __tablename__ = "network"
    __table_args__ = (
        UniqueConstraint("uuid", name="uniq_network0uuid"),
        UniqueConstraint("neutron_net_id", "host", name="uniq_network0neutron_net_id_host"),
    )

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    project_id: Mapped[str | None] = mapped_column(String(255))
    user_id: Mapped[str | None] = mapped_column(String(255))
    name: Mapped[str | None] = mapped_column(String(255))
    uuid: Mapped[str | None] = mapped_column(String(36))
    network_id: Mapped[str | None] = mapped_column(String(255))
    neutron_net_id: Mapped[str | None] = mapped_column(String(255))
    host: Mapped[str | None] = mapped_column(String(255))


# --- dead in Zun, kept because its tools expect them ------------------------------------------------


def _dead(name: str, *columns: Any) -> Table:
    return Table(
        name, Base.metadata, Column("created_at", DateTime), Column("updated_at", DateTime), *columns
    )


_dead(
    "quota_usages",
    Column("id", Integer, nullable=False),
    Column("project_id", String(255)),
    Column("resource", String(255), nullable=False),
    Column("in_use", Integer, nullable=False),
    Column("reserved", Integer, nullable=False),
    Column("until_refresh", Integer),
    Index("ix_quota_usages_project_id", "project_id"),
)
_dead(
    "resource_provider",
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("uuid", String(36), nullable=False),
    Column("name", String(255), nullable=False),
    Column("root_provider", String(36), nullable=False),
    Column("parent_provider", String(36)),
    Column("can_host", Integer),
    UniqueConstraint("uuid", name="uniq_resource_provider0uuid"),
)
_dead(
    "resource_class",
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("name", String(255), nullable=False),
    Column("uuid", String(36), nullable=False),
    UniqueConstraint("uuid", name="uniq_resource_class0uuid"),
)
_dead(
    "inventory",
    Column("id", Integer, primary_key=True, autoincrement=True),
    *(
        Column(name, Integer, nullable=False)
        for name in ("resource_provider_id", "resource_class_id", "total", "reserved")
    ),
    *(Column(name, Integer, nullable=False) for name in ("min_unit", "max_unit", "step_size", "is_nested")),
    Column("allocation_ratio", Float, nullable=False),
    Column("blob", Text),
    UniqueConstraint(
        "resource_provider_id",
        "resource_class_id",
        name="uniq_inventory0resource_provider_resource_class",
    ),
    Index("inventory_resource_provider_id_idx", "resource_provider_id"),
    Index("inventory_resource_class_id_idx", "resource_class_id"),
    Index(
        "inventory_resource_provider_resource_class_idx",
        "resource_provider_id",
        "resource_class_id",
    ),
)
_dead(
    "allocation",
    Column("id", Integer, primary_key=True, autoincrement=True),
    *(
        Column(name, Integer, nullable=False)
        for name in ("resource_provider_id", "resource_class_id", "used", "is_nested")
    ),
    Column("consumer_id", String(36), nullable=False),
    Column("blob", Text),
    Index("allocation_resource_provider_class_used_idx", "resource_provider_id", "resource_class_id", "used"),
    Index("allocation_resource_class_id_idx", "resource_class_id"),
    Index("allocation_consumer_id_idx", "consumer_id"),
)


# --- ours ---------------------------------------------------------------------------------------------


class Lock(Base):
    """A row for each name of a lock: see `locks.py`. A project's, its id, is held to count its usage."""

    __tablename__ = "tierce_project_lock"

    # The column was there when only projects had locks.
    name: Mapped[str] = mapped_column("project_id", String(255), key="name", primary_key=True)


class Allocation(Base):
    """What a container holds of a node, kept by the built-in placement.

    No foreign key to `container`: on a database that is taken over the two tables may differ in
    character set, which MariaDB refuses in a key. Nobody counts one whose container is gone
    (`placement.holdings`); `placement.builtin.audit` finds what is left over.
    """

    __tablename__ = "tierce_allocation"
    __table_args__ = (Index("ix_tierce_allocation_host", "host"),)

    consumer_uuid: Mapped[str] = mapped_column(String(36), primary_key=True)
    host: Mapped[str] = mapped_column(String(255))
    vcpus: Mapped[int] = mapped_column(Integer)
    memory_mb: Mapped[int] = mapped_column(Integer)
    disk_gb: Mapped[int] = mapped_column(Integer)


class AttachSession(Base):
    """A token with which a client may attach to a container; the newest is in the container's row too."""

    __tablename__ = "tierce_attach_session"
    __table_args__ = (Index("ix_tierce_attach_session_container_id", "container_id"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    container_id: Mapped[int] = mapped_column(ForeignKey("container.id", ondelete="CASCADE"))
    token: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime.datetime] = mapped_column(Moment)


class Cloud(Base):
    """The cloud itself, in one row that the migrations write."""

    __tablename__ = "tierce_cloud"

    uuid: Mapped[str] = mapped_column(String(36), primary_key=True)


# For statements that must be fast: on a table they cost a fraction of what they do on the mapped class.
CONTAINER = Base.metadata.tables["container"]
REGISTRY = Base.metadata.tables["registry"]
ACTION = Base.metadata.tables["container_actions"]
EVENT = Base.metadata.tables["container_actions_events"]
LOCK = Base.metadata.tables["tierce_project_lock"]
ALLOCATION = Base.metadata.tables["tierce_allocation"]
