"""Indexes for what is looked up, listed and locked by.

A lock of a node's row must find that row alone: MariaDB locks whatever it reads on the way.
"""

from tierce.db.migrations import steps

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    steps.create_index("ix_container_created_at", "container", "container_type created_at id")
    steps.create_index("ix_container_state", "container", "project_id container_type generation updated_at")
    steps.create_index("ix_container_status", "container", "status")
    steps.create_index("ix_compute_node_hostname", "compute_node", "hostname")
    steps.create_index("ix_image_uuid", "image", "uuid")
