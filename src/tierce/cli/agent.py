"""`tierce agent`: run the containers of one node."""

import argparse
import logging

from oslo_config import cfg

from tierce.cli import process, wiring
from tierce.db import engine, schema
from tierce.rpc.transport import build_shared_transport

LOG = logging.getLogger(__name__)


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    subparsers.add_parser("agent", help="run the containers of this node")


def run(_args: argparse.Namespace, conf: cfg.ConfigOpts) -> int:
    """Work until SIGTERM or SIGINT, or until another agent has the node (1 then).

    Raises AlreadyRunning, BusRefused, NodeTaken, SchemaMismatch, InvalidEncryptionKey.
    """
    process.prepare(conf)
    stop = process.Stop()
    with process.only_one(conf) as installation:
        transport = build_shared_transport(conf)
        database = engine.connect(conf)
        schema.require_current(database)
        node = wiring.Node(conf, database, transport, installation, stop.fail)
        node.start()
        LOG.info("Serving the node %s", conf.host)
        stop.wait()
        LOG.info("Stopping")
        return process.end_agent(node.stop(), stop.code)
