"""`tierce standalone`, made to die by SIGKILL at one exact point, for the crash tests.

TIERCE_CRASH_AT is `step ACTION STEP MOMENT` (a boundary that the agent's observer is told of), `engine
BEFORE|AFTER N` (the N-th call to the Engine for the request that is to be interrupted: before it is
sent, or when the Engine has answered and nobody has heard), or `commit` (after the API's transaction,
before its message). With TIERCE_CRASH_COUNT the calls to the Engine are written to that file instead.
"""

import os
import pathlib
import signal
import sys
import threading
from typing import Any

import requests

from tierce import config
from tierce.cli import standalone
from tierce.control.messages import Messages
from tierce.observability import logs

POINT = os.environ.get("TIERCE_CRASH_AT", "").split()
COUNT = os.environ.get("TIERCE_CRASH_COUNT")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class EngineCalls:
    """Counts the Engine calls of an operation.

    Not those of a look at what the Engine's events tell: it comes sooner or later, or not at all.
    """

    def __init__(self) -> None:
        self.made = 0
        self._send = requests.Session.send
        self._thread = threading.local()

    def observe(self, action: str, step: str, moment: str) -> None:
        """Told of every boundary, in the thread that runs the action."""
        if ["step", action, step, moment] == POINT:
            die()
        self._thread.acts = moment != "committed"

    def install(self) -> None:
        calls = self

        def send(session: requests.Session, request: Any, **more: Any) -> Any:
            if not getattr(calls._thread, "acts", False):
                return calls._send(session, request, **more)
            calls.made += 1
            calls._perhaps_die("before")
            answer = calls._send(session, request, **more)
            calls._perhaps_die("after")
            if COUNT:
                with pathlib.Path(COUNT).open("a") as file:
                    file.write(f"{request.method} {request.path_url}\n")
            return answer

        requests.Session.send = send  # type: ignore[method-assign]  # what every call to the engine goes through

    def _perhaps_die(self, moment: str) -> None:
        if ["engine", moment, str(self.made)] == POINT:
            die()


def main() -> int:
    conf = config.load([sys.argv[sys.argv.index("--config-file") + 1]])
    logs.setup(conf)
    calls = EngineCalls()
    calls.install()
    if POINT == ["commit"]:
        Messages._send = lambda *_: die()  # type: ignore[assignment,method-assign]  # between commit and cast
    return standalone.serve(conf, observer=calls.observe)


if __name__ == "__main__":
    sys.exit(main())
