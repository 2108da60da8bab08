"""Databases as the reference implementation leaves them: its schema at its last revision, and rows."""

import pathlib
import re

from sqlalchemy import Engine

_HERE = pathlib.Path(__file__).parent / "zun_18"
_SCHEMAS = {"sqlite": "sqlite.sql", "mysql": "mariadb.sql", "postgresql": "postgresql.sql"}

ROWS = (_HERE / "rows.sql").read_text()


def take_over(engine: Engine, *before: str) -> None:
    """Fill an empty database, after the statements of `before`."""
    run(engine, *before, (_HERE / _SCHEMAS[engine.dialect.name]).read_text(), ROWS)


def run(engine: Engine, *scripts: str) -> None:
    """Run the statements of scripts, as standard SQL."""
    bare = re.sub(r"^--.*$", "", ";".join(scripts), flags=re.MULTILINE)
    with engine.connect() as session:
        session.detach()  # its mode is not for others
        if engine.dialect.name == "mysql":
            session.exec_driver_sql("SET sql_mode = 'TRADITIONAL,ANSI_QUOTES,NO_BACKSLASH_ESCAPES'")
        for statement in filter(None, map(str.strip, bare.split(";"))):
            session.exec_driver_sql(statement)
        session.commit()
