"""`tierce api`: serve the API, in as many processes as `[api] workers` says."""

import argparse
import logging
import os
from collections.abc import Callable

from oslo_config import cfg

from tierce.api.server import ApiServer
from tierce.api.workers import Workers
from tierce.cli import wiring
from tierce.db import engine, schema
from tierce.rpc.client import ComputeClient
from tierce.rpc.transport import build_shared_transport

LOG = logging.getLogger(__name__)


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    subparsers.add_parser("api", help="serve the API")


def run(_args: argparse.Namespace, conf: cfg.ConfigOpts) -> int:
    """Serve until SIGTERM or SIGINT. Raises AddressInUse, SchemaMismatch, InvalidEncryptionKey."""
    wiring.prepare(conf)
    count = conf.api.workers or os.cpu_count() or 1
    return Workers(conf.api.host_ip, conf.api.port, count, lambda *address: _work(conf, *address)).run()


def _work(conf: cfg.ConfigOpts, host: str, port: int, ready: Callable[[], None]) -> int:
    """One worker process, from its start to SIGTERM."""
    stop = wiring.Stop()
    database = engine.connect(conf)
    schema.require_current(database)
    transport = build_shared_transport(conf)
    compute = ComputeClient(transport, conf)
    application = wiring.build_application(conf, database, transport, compute)
    server = ApiServer(application, host, port, conf.api.threads, shared=True)
    server.start()
    LOG.info("Serving on http://%s:%d", host, port)
    ready()
    stop.wait()
    server.stop()
    compute.close()
    database.close()
    return stop.code
