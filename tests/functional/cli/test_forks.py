"""Processes that are forked from one, as workers are, make up different names."""

import subprocess
import sys

PROGRAM = """
import os
from tierce.cli.wiring import new_random

random = new_random()
if os.fork() == 0:
    print(random.random(), flush=True)
    os._exit(0)
os.wait()
print(random.random())
"""


def test_processes_that_are_forked_from_one_do_not_throw_the_same_dice() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60
    )
    first, second = done.stdout.split()
    assert first != second
