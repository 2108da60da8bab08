"""Where the sizes of terminals and the tokens of many attaches are kept."""

import sqlalchemy as sa

from tierce.db.migrations import steps

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    steps.add_columns(
        "exec_instance",
        sa.Column("height", sa.Integer(), nullable=True),
        sa.Column("width", sa.Integer(), nullable=True),
    )
    steps.create_table(
        "tierce_attach_session",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("container_id", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["container_id"], ["container.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.Index("ix_tierce_attach_session_container_id", "container_id"),
    )
