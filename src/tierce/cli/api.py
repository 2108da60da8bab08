"""`tierce api`: serve the API, in as many processes as `[api] workers` says."""

import argparse
import logging
import os
from collections.abc import Callable

from oslo_config import cfg

from tierce.api.server import ApiServer
from tierce.api.workers import Workers
from tierce.cli import process, wiring
from tierce.db import engine, schema
from tierce.rpc.client import ComputeClient
from tierce.rpc.transport import build_shared_transport

LOG = logging.getLogger(__name__)


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    subparsers.add_parser("api", help="serve the API")


def run(_args: argparse.Namespace, conf: cfg.ConfigOpts) -> int:
    """Serve until SIGTERM or SIGINT.

    What refuses the start does so once, before there are workers: raises AddressInUse, AddressUnusable,
    SchemaMismatch, DatabaseAway, BusRefused, InvalidValue, InvalidEncryptionKey.
    """
    process.prepare(conf)
    service = _Service(conf)
    count = conf.api.workers or os.cpu_count() or 1
    return Workers(conf.api.host_ip, conf.api.port, count, service.work).run()


class _Service:
    """What each worker serves; it has neither threads nor connections before one does."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._threads: int = conf.api.threads
        self._database = engine.connect(conf)
        try:
            schema.require_current(self._database)
            transport = build_shared_transport(conf)
            self._compute = ComputeClient(transport, conf)
            self._application = wiring.build_application(conf, self._database, transport, self._compute)
        finally:
            self._database.close()

    def work(self, host: str, port: int, ready: Callable[[], None]) -> int:
        """One worker process, from its start to SIGTERM."""
        stop = process.Stop()
        server = ApiServer(self._application, host, port, self._threads, shared=True)
        server.start()
        LOG.info("Serving on http://%s:%d", host, port)
        ready()
        stop.wait()
        server.stop()
        self._compute.close()
        self._database.close()
        return stop.code
