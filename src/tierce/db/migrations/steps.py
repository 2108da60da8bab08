"""Steps of a migration that are left out when they were done before.

MariaDB and MySQL keep what an interrupted migration had done, and it has to be run again from its start.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op


def create_table(name: str, *items: sa.schema.SchemaItem) -> None:
    """Make one of our tables, with its indexes among the items."""
    if not sa.inspect(op.get_bind()).has_table(name):
        # Whatever the database's default is: every character, and no two different texts that are equal.
        op.create_table(
            name, *items, mysql_engine="InnoDB", mysql_charset="utf8mb4", mysql_collate="utf8mb4_bin"
        )


def add_columns(table: str, *columns: sa.Column[Any]) -> None:
    """Add columns, which are nullable or have a server default: others write to the table too."""
    present = {column["name"] for column in sa.inspect(op.get_bind()).get_columns(table)}
    for column in columns:
        if column.name not in present:
            op.add_column(table, column)


def create_index(name: str, table: str, columns: str, *, unique: bool = False) -> None:
    """Make an index of the columns, whose names are separated by spaces."""
    if name not in {index["name"] for index in sa.inspect(op.get_bind()).get_indexes(table)}:
        op.create_index(name, table, columns.split(), unique=unique)
