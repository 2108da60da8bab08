"""`api.server.ApiServer` in a process of its own, for `servers`: python -m benchmarks.cheroot_server PORT."""

import signal
import sys
import threading

from benchmarks.wsgi import application
from tierce.api.server import ApiServer

_stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: _stop.set())
_server = ApiServer(application, "127.0.0.1", int(sys.argv[1]), 8)
_server.start()
_stop.wait()
_server.stop()
