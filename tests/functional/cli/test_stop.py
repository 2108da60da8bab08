"""What a program waits for: it ends however close together two signals are.

A service manager signals the whole group, and the parent of workers then signals each of them again.
"""

import os
import signal
import subprocess
import sys

ROUNDS = 200

# A process for each round, forked from one that has imported everything.
PROGRAM = f"""
import os, signal
from tierce.cli.process import Stop

for pause in range({ROUNDS}):
    ready, say = os.pipe()
    if (pid := os.fork()) == 0:
        stop = Stop()
        os.write(say, b"1")
        stop.wait()
        os._exit(0)
    os.read(ready, 1)
    os.kill(pid, signal.SIGTERM)
    for _ in range(20 * pause):
        pass
    os.kill(pid, signal.SIGTERM)
    os.waitpid(pid, 0)
"""


def test_two_signals_close_together_end_the_program() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], start_new_session=True) as program:
        try:
            assert program.wait(timeout=60) == 0
        finally:
            if program.poll() is None:
                os.killpg(program.pid, signal.SIGKILL)
