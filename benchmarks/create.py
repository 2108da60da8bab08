"""POST run to Running against docker-py's create and start of the same image on the same Engine.

    python -m benchmarks.create

One after another (interleaved, median of 20), and 50 at once (alternating rounds). Needs root.
"""

import itertools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import docker

from benchmarks.support import COMMAND, IMAGE, median, service_on_private_engine
from tests.support.service import Http

RUNS = 20
AT_ONCE = 50
ROUNDS = 3
_MEMORY_MIB = 32


class DockerPy:
    """The floor: the client library alone."""

    def __init__(self, url: str) -> None:
        self._client = docker.DockerClient(url, max_pool_size=AT_ONCE)
        self._numbers = itertools.count()
        self._made: list[str] = []

    def run(self) -> None:
        api = self._client.api
        limits = api.create_host_config(mem_limit=f"{_MEMORY_MIB}m")
        name = f"floor-{next(self._numbers)}"
        container = api.create_container(IMAGE, COMMAND, name=name, host_config=limits)
        self._made.append(container["Id"])
        api.start(container["Id"])

    def clear(self) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda ident: self._client.api.remove_container(ident, force=True), self._made))
        self._made.clear()


class Tierce:
    def __init__(self, http: Http) -> None:
        self._http = http
        self._made: list[str] = []

    def post(self) -> str:
        uuid = self._http.create(image=IMAGE, command=COMMAND, memory=str(_MEMORY_MIB), cpu=0.1)
        self._made.append(uuid)
        return uuid

    def run(self) -> None:
        uuid = self.post()
        while (status := (self._http.show(uuid) or {})["status"]) != "Running":
            assert status in ("Creating", "Created"), status
            time.sleep(0.005)

    def await_all(self) -> None:
        while self._http.call("GET", "/containers?status=Creating&status=Created")["containers"]:
            time.sleep(0.02)
        failed = self._http.call("GET", "/containers?status=Error")["containers"]
        assert not failed, failed[0]["status_reason"]

    def clear(self) -> None:
        for uuid in self._made:
            self._http.call("DELETE", f"/containers/{uuid}?force=true")
        while self._http.call("GET", "/containers")["containers"]:
            time.sleep(0.05)
        self._made.clear()


def timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def at_once(one: Callable[[], object], then: Callable[[], None] = lambda: None) -> float:
    with ThreadPoolExecutor(AT_ONCE) as pool:

        def work() -> None:
            list(pool.map(lambda _: one(), range(AT_ONCE)))
            then()

        return timed(work)


def main() -> None:
    with service_on_private_engine({"compute": {"initial_cpu_allocation_ratio": 100}}) as (_, http, url):
        floor, tierce = DockerPy(url), Tierce(http)
        # The project's network and every code path once, so that neither side pays for a first time.
        tierce.run()
        floor.run()
        pairs = [(timed(floor.run), timed(tierce.run)) for _ in range(RUNS)]
        floor_median, tierce_median = (median(times) for times in zip(*pairs, strict=True))
        print(f"POST run to Running, median of {RUNS}, interleaved")
        print(f"  docker-py {floor_median * 1000:7.1f} ms")
        print(f"  Tierce    {tierce_median * 1000:7.1f} ms   ratio {tierce_median / floor_median:.2f}")
        floor.clear()
        tierce.clear()

        tierce.run()
        floor_times, tierce_times = [], []
        for _ in range(ROUNDS):
            floor_times.append(at_once(floor.run))
            floor.clear()
            tierce_times.append(at_once(tierce.post, tierce.await_all))
            tierce.clear()
            tierce.run()
        floor_median, tierce_median = median(floor_times), median(tierce_times)
        print(f"{AT_ONCE} at once until all run, median of {ROUNDS} rounds, alternating")
        print(f"  docker-py {floor_median:7.2f} s   {[round(t, 2) for t in floor_times]}")
        print(
            f"  Tierce    {tierce_median:7.2f} s   {[round(t, 2) for t in tierce_times]}"
            f"   ratio {tierce_median / floor_median:.2f}"
        )
        tierce.clear()


if __name__ == "__main__":
    main()
