"""`tierce standalone`: API, node agent, bus and database in one process."""

import argparse
import logging
import secrets
from collections.abc import Callable

from oslo_config import cfg

from tierce.agent.runner import Observer
from tierce.api.server import ApiServer
from tierce.cli import process, wiring
from tierce.db import engine, schema
from tierce.db.secrets import ensure_key
from tierce.rpc.client import ComputeClient
from tierce.rpc.transport import build_transport

LOG = logging.getLogger(__name__)


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    subparsers.add_parser("standalone", help="serve the API and run containers, all in this process")


def run(_args: argparse.Namespace, conf: cfg.ConfigOpts) -> int:
    process.prepare(conf)
    return serve(conf)


def serve(conf: cfg.ConfigOpts, observer: Observer | None = None) -> int:
    """Serve until SIGTERM or SIGINT; 0 when everything under way was finished or is safe in the queue."""
    stop = process.Stop()
    with process.only_one(conf) as installation:
        service = Standalone(conf, installation, stop.fail, observer)
        host, port = service.start()
        LOG.info("Serving on http://%s:%d", host, port)
        stop.wait()
        LOG.info("Stopping")
        return process.end_agent(service.stop(), stop.code)


class Standalone:
    """The whole service as one object."""

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        installation: str,
        displaced: Callable[[], None],
        observer: Observer | None = None,
    ) -> None:
        """Connect to the database, bringing its schema up to date.

        Raises SchemaMismatch, InvalidEncryptionKey.
        """
        self._database = engine.connect(conf)
        schema.upgrade(self._database)
        ensure_key(conf, lambda: secrets.token_urlsafe(24))
        transport = build_transport(conf)
        self._compute = ComputeClient(transport, conf)
        self._node = wiring.Node(conf, self._database, transport, installation, displaced, observer)
        application = wiring.build_application(conf, self._database, transport, self._compute)
        self._api = ApiServer(application, conf.api.host_ip, conf.api.port, conf.api.threads)

    def start(self) -> tuple[str, int]:
        """Start the agent, then the API; the API's address.

        Raises AddressInUse, AddressUnusable, NodeTaken.
        """
        self._node.start()
        return self._api.start()

    def stop(self) -> bool:
        """Stop in reverse order; False when some action did not finish in time."""
        self._api.stop()
        drained = self._node.stop()
        self._compute.close()
        if drained:
            self._database.close()
        return drained
