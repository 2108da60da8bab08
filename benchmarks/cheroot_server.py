"""`api.server.ApiServer` in a process of its own, for `servers` and `listing`.

python -m benchmarks.cheroot_server PORT MODULE:APPLICATION
"""

import importlib
import signal
import sys
import threading

from tierce.api.server import ApiServer

_port, (_module, _, _name) = int(sys.argv[1]), sys.argv[2].partition(":")
_stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: _stop.set())
_application = getattr(importlib.import_module(_module), _name)
_server = ApiServer(_application, "127.0.0.1", _port, 8, shared=True)
_server.start()
_stop.wait()
_server.stop()
