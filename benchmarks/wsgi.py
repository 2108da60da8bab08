"""The API alone as a WSGI application on the database in $TIERCE_BENCHMARK_HOME, for `servers`."""

import os
import pathlib
import random

from benchmarks.listing import configuration
from tierce.api.app import create_app
from tierce.control.build import build_services
from tierce.db import engine
from tierce.identity.noauth import NoAuthIdentity
from tierce.model.clock import SystemClock
from tierce.networks.addresses import AddressPool
from tierce.networks.bridge import BridgeResolver
from tierce.placement.builtin import BuiltinPlacement
from tierce.rpc.client import ComputeClient
from tierce.rpc.transport import build_transport

_conf = configuration(pathlib.Path(os.environ["TIERCE_BENCHMARK_HOME"]))
_clock = SystemClock()
application = create_app(
    _conf,
    build_services(
        _conf,
        engine.connect(_conf),
        BuiltinPlacement(_conf),
        BridgeResolver("node1", AddressPool.from_conf(_conf)),
        ComputeClient(build_transport(_conf), _conf, _clock),
        _clock,
        random.Random(1),
    ),
    NoAuthIdentity(),
    _clock,
)
