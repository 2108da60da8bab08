"""WSGI servers on our own list route: one process, eight threads each.

    pip install -e '.[benchmark]' && python -m benchmarks.servers

What counts besides the rate: it must run inside `tierce standalone`, beside the agent's threads, and stop
when it is told to. gunicorn forks its workers and owns the process, so it can serve `tierce api` alone.
granian runs threads of its own around the interpreter, and takes a WSGI application only in processes that
it spawns. cheroot is a library that serves from threads of the process it is in.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.listing import configuration, insert_rows, rate
from benchmarks.support import pss_mib
from benchmarks.workers import await_answer
from tests.support.service import free_port

_APPLICATION = "benchmarks.wsgi:application"


def commands(port: int) -> dict[str, Sequence[str]]:
    python = sys.executable
    granian = [python, "-m", "granian", "--interface", "wsgi", "--workers", "1", "--blocking-threads", "8"]
    gunicorn = [python, "-m", "gunicorn", "--worker-class", "gthread", "--workers", "1", "--threads", "8"]
    return {
        "cheroot": [python, "-m", "benchmarks.cheroot_server", str(port), _APPLICATION],
        "gunicorn": [*gunicorn, "--bind", f"127.0.0.1:{port}", "--log-level", "error", _APPLICATION],
        "granian": [*granian, "--host", "127.0.0.1", "--port", str(port), "--no-log", _APPLICATION],
    }


def memory(pid: int) -> float:
    """PSS of a process and its children, MiB."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return pss_mib(pid) + sum(memory(int(child)) for child in children)


@contextlib.contextmanager
def running(command: Sequence[str], environment: Mapping[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """A server, of which nothing is left at the end: its workers would keep our output open for ever."""
    server = subprocess.Popen(command, env=environment, start_new_session=True)
    try:
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        insert_rows(configuration(pathlib.Path(home)))
        environment = {**os.environ, "TIERCE_BENCHMARK_HOME": home}
        print(f"{'':10}{'1,000 rows/s':>14}{'limit=20/s':>12}{'version/s':>11}{'PSS MiB':>9}{'stops in':>10}")
        for name in commands(0):
            port = free_port()
            base = f"http://127.0.0.1:{port}"
            with running(commands(port)[name], environment) as server:
                await_answer(f"{base}/")
                paths = ("/v1/containers", "/v1/containers?limit=20", "/")
                rates = [rate(f"{base}{path}")[0] for path in paths]
                used = memory(server.pid)
                begun = time.perf_counter()
                server.send_signal(signal.SIGTERM)
                server.wait(30)
                stopped = time.perf_counter() - begun
            print(f"{name:10}{rates[0]:14.1f}{rates[1]:12.1f}{rates[2]:11.0f}{used:9.0f}{stopped:9.2f}s")


if __name__ == "__main__":
    main()
