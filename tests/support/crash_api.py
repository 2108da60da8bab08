"""`tierce`, whose first attempt to tell a node something ends the process, once for each configuration."""

import os
import pathlib
import signal
import sys
from typing import Any

from tierce.cli.main import main
from tierce.control.messages import Messages

_SEND = Messages._send


def send(messages: Messages, *arguments: Any) -> None:
    done = pathlib.Path(sys.argv[sys.argv.index("--config-file") + 1]).with_suffix(".crashed")
    if not done.exists():
        done.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    _SEND(messages, *arguments)


if __name__ == "__main__":
    Messages._send = send  # type: ignore[method-assign]  # the point between commit and cast
    sys.exit(main())
