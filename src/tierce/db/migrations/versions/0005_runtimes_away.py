"""Whether a node's container runtime answered when it was last asked."""

import sqlalchemy as sa

from tierce.db.migrations import steps

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    steps.add_columns("compute_node", sa.Column("runtime_away", sa.Boolean(), nullable=True))
