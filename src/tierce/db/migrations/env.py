"""What alembic runs: every revision on the connection that `db.schema` hands over."""

from alembic import context

from tierce.db.schema import VERSION_TABLE
from tierce.db.tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=VERSION_TABLE,
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
