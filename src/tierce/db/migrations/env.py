"""What alembic runs, or writes down: every revision, for the connection that `db.schema` hands over."""

from alembic import context

from tierce.db.schema import VERSION_TABLE
from tierce.db.tables import Base

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    version_table=VERSION_TABLE,
    # On SQLite one transaction keeps other upgrades away until the end (see `db.schema`).
    transaction_per_migration=connection.dialect.name != "sqlite",
    transactional_ddl=connection.dialect.name != "mysql",
    literal_binds=context.is_offline_mode(),
)
with context.begin_transaction():
    context.run_migrations()
