"""What a cloud of many nodes needs: a name of its own, and to know which agent writes a node's heartbeats."""

import uuid

import sqlalchemy as sa
from alembic import op

from tierce.db.migrations import steps

revision = "0004"
down_revision = "0003"

_NAME_IT = """
INSERT INTO tierce_cloud (uuid)
SELECT COALESCE((SELECT uuid FROM compute_node ORDER BY created_at, uuid LIMIT 1), :made)
FROM (SELECT 1 AS once) AS once WHERE NOT EXISTS (SELECT uuid FROM tierce_cloud)
"""
"""Networks that exist have names made of the one node's uuid, and keep them."""


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
    op.execute(sa.text(_NAME_IT).bindparams(made=str(uuid.uuid4())))
