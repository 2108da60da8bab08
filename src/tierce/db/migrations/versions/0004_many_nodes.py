"""What a cloud of many nodes needs: a name of its own, and to know which agent writes a node's heartbeats."""

import uuid

import sqlalchemy as sa
from alembic import op

from tierce.db.migrations import steps

revision = "0004"
down_revision = "0003"

_CLOUD = sa.table("tierce_cloud", sa.column("uuid"))


def upgrade() -> None:
    steps.add_columns(
        "zun_service",
        sa.Column("installation", sa.String(length=36), nullable=True),
        sa.Column("incarnation", sa.String(length=36), nullable=True),
    )
    steps.create_table(
        "tierce_cloud",
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.PrimaryKeyConstraint("uuid"),
    )
    connection = op.get_bind()
    if connection.execute(sa.select(_CLOUD.c.uuid)).first() is None:
        # Networks that exist have names made of the one node's uuid, and keep them.
        node = sa.text("SELECT uuid FROM compute_node ORDER BY created_at, uuid LIMIT 1")
        connection.execute(sa.insert(_CLOUD).values(uuid=connection.scalar(node) or str(uuid.uuid4())))
