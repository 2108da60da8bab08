"""Steps of a migration that are left out when they were done before.

MariaDB and MySQL keep what an interrupted migration had done, and it has to be run again from its start.
Where the steps are only written down, as SQL, they are those that the database lacks now.
"""

from typing import Any

import sqlalchemy as sa
from alembic import context, op


def has_table(name: str) -> bool:
    return _inspector().has_table(name)


def create_table(name: str, *items: sa.schema.SchemaItem) -> None:
    """Make one of our tables, with its indexes among the items."""
    if not has_table(name):
        # Whatever the database's default is: every character, and no two different texts that are equal.
        op.create_table(
            name, *items, mysql_engine="InnoDB", mysql_charset="utf8mb4", mysql_collate="utf8mb4_bin"
        )


def add_columns(table: str, *columns: sa.Column[Any]) -> None:
    """Add columns, which are nullable or have a server default: others write to the table too."""
    present = {column["name"] for column in _inspector().get_columns(table)} if has_table(table) else set()
    for column in columns:
        if column.name not in present:
            op.add_column(table, column)


def create_index(name: str, table: str, columns: str, *, unique: bool = False) -> None:
    """Make an index of the columns, whose names are separated by spaces."""
    present = {index["name"] for index in _inspector().get_indexes(table)} if has_table(table) else set()
    if name not in present:
        op.create_index(name, table, columns.split(), unique=unique)


def _inspector() -> sa.Inspector:
    # The connection that `db.schema` handed over: that of alembic only collects text when SQL is written.
    inspector: sa.Inspector = sa.inspect(context.config.attributes["connection"])
    return inspector
