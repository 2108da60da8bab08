"""MariaDB over TLS, with an authority of the operator's own: options of the URL are all it takes."""

import os
import pathlib
import pwd
import shutil
import tempfile
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from tests.support.certificates import Certificates
from tests.support.databases import MariaDB, connection
from tierce.model.errors import DatabaseBusy


@pytest.fixture
def directory() -> Iterator[pathlib.Path]:
    """One that the server's account may enter."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tierce-tls-"))
    yield directory
    shutil.rmtree(directory)


def test_mariadb_is_checked_against_an_authority(directory: pathlib.Path, tmp_path: pathlib.Path) -> None:
    trusted, other = Certificates(directory / "tls"), Certificates(tmp_path / "other")
    if os.geteuid() == 0:
        account = pwd.getpwnam("nobody")
        for path in [directory, *directory.rglob("*")]:
            os.chown(path, account.pw_uid, account.pw_gid)
    server = MariaDB(directory, f"--ssl-cert={trusted.certificate}", f"--ssl-key={trusted.key}")
    try:
        server.create("tls")
        database = connection(f"{server.url('tls')}&ssl_ca={trusted.authority}")
        cipher = database.read(lambda session: session.execute(text("SHOW STATUS LIKE 'Ssl_cipher'")).one())
        database.close()
        assert cipher[1]

        distrusting = connection(f"{server.url('tls')}&ssl_ca={other.authority}", db_max_retries=0)
        with pytest.raises(DatabaseBusy):
            distrusting.read(lambda session: session.execute(text("SELECT 1")))
        distrusting.close()
    finally:
        server.stop()
