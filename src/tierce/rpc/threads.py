"""Have the messaging libraries run on native threads, before anything else imports them.

`oslo.service` must be told which concurrency to use, or it takes eventlet. Several libraries also
import eventlet merely because it is installed, which costs time and memory and prints a warning:
while they are imported here, it looks absent.
"""

import sys
import warnings


def use_threads() -> None:
    """Import the messaging libraries, bound to native threads. Idempotent.

    Raises oslo.service's BackendAlreadySelected when something else chose eventlet before.
    """
    hide = "eventlet" not in sys.modules
    if hide:
        sys.modules["eventlet"] = None  # type: ignore[assignment]  # Python's own way to bar an import
    try:
        with warnings.catch_warnings():
            # oslo.messaging imports a module of oslo.utils that announces its own removal.
            warnings.filterwarnings("ignore", "eventletutils module is deprecated", DeprecationWarning)
            from oslo_service import backend

            backend.init_backend(backend.BackendType.THREADING)
            import oslo_messaging  # noqa: F401  # imported for its effect, while eventlet is hidden
    finally:
        if hide:
            del sys.modules["eventlet"]
