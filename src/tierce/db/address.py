"""`[database] connection`, and how it is told to operators: never with its password."""

from oslo_config import cfg
from sqlalchemy import make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from tierce.model.errors import TierceError

_PORTS = {"mysql": 3306, "mariadb": 3306, "postgresql": 5432}


def parse_url(conf: cfg.ConfigOpts) -> URL:
    """`[database] connection`. Raises TierceError, which does not repeat it: it may have a password."""
    try:
        url = make_url(conf.database.connection)
    except (ArgumentError, ValueError):
        url = None
    # What follows the @ of a password that has one is no host, and must not be shown as such.
    if url is None or "@" in (url.host or ""):
        raise TierceError(
            "`[database] connection` is not a URL such as mysql+pymysql://USER:PASSWORD@HOST/DATABASE. "
            "Special characters of a password are written as in URLs, such as %2F for a slash."
        )
    return url


def place(url: URL) -> str:
    """Where the database is, as the subject of a sentence."""
    if url.get_backend_name() == "sqlite":
        return f"The database {url.database or ':memory:'}"
    return f"The database at {_server(url)}"


def summary(url: URL) -> str:
    """The URL without its password, and without options, which may hold another."""
    if url.get_backend_name() == "sqlite":
        return f"{url.drivername}:///{url.database or ''}"
    account = f"{url.username}@" if url.username else ""
    return f"{url.drivername}://{account}{_server(url)}/{url.database or ''}"


def _server(url: URL) -> str:
    """Host and port, or what an option names in their stead: a socket, or several hosts."""
    named = url.query.get("unix_socket") or (None if url.host else url.query.get("host"))
    if named:
        return named if isinstance(named, str) else ", ".join(named)
    host = url.host or "localhost"
    port = url.port or _PORTS.get(url.get_backend_name())
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
