"""Opening a SQLite database that is new, as several programs do at once at their first start."""

from pathlib import Path

import pytest

from tests.support.databases import connection
from tests.support.threads import at_once


@pytest.mark.parametrize("attempt", range(20))
def test_all_who_open_a_new_database_at_once_have_it(tmp_path: Path, attempt: int) -> None:
    """A connection each: to SQLite those of one process are as strange as those of many."""
    databases = [connection(f"sqlite:///{tmp_path}/new.sqlite") for _ in range(8)]
    try:
        assert at_once([database.answers for database in databases]) == [True] * 8
        with databases[0].engine.connect() as open_connection:
            assert open_connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
    finally:
        for database in databases:
            database.close()
