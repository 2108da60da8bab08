"""The API as a WSGI application, for a server that has processes and a port of its own.

    uwsgi --module tierce.wsgi:application ...

The environment variable TIERCE_CONFIG_FILE names the configuration, if it is not where commands find it.
The server may fork after it has imported this: no thread runs then, and no connection is open.
"""

import os

from tierce import config
from tierce.api.front import Wsgi
from tierce.cli import process, wiring
from tierce.db import engine, schema
from tierce.rpc.client import ComputeClient
from tierce.rpc.transport import build_shared_transport


def _build() -> Wsgi:
    """Raises BusRefused, SchemaMismatch, InvalidEncryptionKey."""
    named = os.environ.get("TIERCE_CONFIG_FILE")
    conf = config.load([named] if named else config.found())
    process.prepare(conf)
    database = engine.connect(conf)
    schema.require_current(database)
    transport = build_shared_transport(conf)
    application = wiring.build_application(conf, database, transport, ComputeClient(transport, conf))
    database.close()
    return application


application = _build()
