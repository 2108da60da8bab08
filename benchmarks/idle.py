"""What `tierce standalone` costs when nobody asks anything, and how fast it starts.

    python -m benchmarks.idle

On a private Engine, after a first request. Needs root.
"""

import pathlib
import tempfile
import time

import requests

from benchmarks.support import cpu_seconds, median, pss_mib
from tests.support.engines import private_engine, url
from tests.support.service import Service

STARTS = 5
WATCHED = 60


def first_answer(service: Service) -> float:
    """Seconds from the start of the process to its first answer."""
    begun = time.perf_counter()
    service.start(wait=False)
    while True:
        try:
            requests.get(f"http://127.0.0.1:{service.port}/", timeout=5)
            return time.perf_counter() - begun
        except requests.ConnectionError:
            time.sleep(0.005)


def main() -> None:
    with private_engine() as engine, tempfile.TemporaryDirectory() as home:
        service = Service(pathlib.Path(home), url(engine))
        fresh = first_answer(service)
        service.stop()
        starts = []
        for _ in range(STARTS):
            starts.append(first_answer(service))
            service.stop()
        print(
            f"Start to first answer: {fresh:.2f} s with a new database, {median(starts):.2f} s after (median)"
        )

        service.start()
        requests.get(f"{service.url}/containers", timeout=5)
        assert service.process is not None
        pid = service.process.pid
        time.sleep(2)
        before = cpu_seconds(pid)
        time.sleep(WATCHED)
        print(f"Idle: {cpu_seconds(pid) - before:.2f} s CPU in {WATCHED} s, {pss_mib(pid):.0f} MiB PSS")
        service.stop()


if __name__ == "__main__":
    main()
