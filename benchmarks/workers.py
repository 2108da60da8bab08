"""Two processes that serve one application on one port."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import requests

from tests.support.service import free_port

WORKERS = 2


@contextlib.contextmanager
def workers(application: str, home: pathlib.Path) -> Iterator[str]:
    """Their URL."""
    port = free_port()
    environment = {**os.environ, "TIERCE_BENCHMARK_HOME": str(home)}
    command = [sys.executable, "-m", "benchmarks.cheroot_server", str(port), application]
    processes = [subprocess.Popen(command, env=environment) for _ in range(WORKERS)]
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in processes:
            await_answer(url)
        time.sleep(1)  # the slower of the two
        yield url
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            process.wait(30)


def await_answer(url: str) -> None:
    """Wait for the first answer. A server may listen, and so keep who asks waiting, before it can answer."""
    deadline = time.monotonic() + 30
    while True:
        try:
            requests.get(url, timeout=5)
        except (requests.ConnectionError, requests.Timeout):
            assert time.monotonic() < deadline, f"{url} does not answer"
            time.sleep(0.05)
        else:
            return
