"""Rows of images that were made of containers."""

import datetime
import uuid
from concurrent.futures import ThreadPoolExecutor

from tierce.db import images
from tierce.db.engine import Database
from tierce.db.tables import Container

NOW = datetime.datetime.fromisoformat("2026-11-01T10:00:00")


def made(database: Database, host: str = "node1") -> str | None:
    container = Container(uuid=str(uuid.uuid4()), host=host, project_id="p1", user_id="u")
    record = str(uuid.uuid4())
    return database.write(lambda session: images.made(session, record, container, "web", "1", NOW).uuid)


def test_of_images_made_under_one_name_at_once_there_is_one_record_a_node(database: Database) -> None:
    with ThreadPoolExecutor(8) as pool:
        uuids = set(pool.map(lambda _: made(database), range(8)))
    assert len(uuids) == 1
    assert made(database) in uuids
    assert made(database, "node2") not in uuids
