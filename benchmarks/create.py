"""POST run to Running against docker-py's create and start of the same image on the same Engine.

    python -m benchmarks.create

One after another (interleaved, median of 20), and 50 at once (alternating rounds). Needs root.

Tierce gives each project a bridge network of its own, which Docker serves with a resolver; Docker's
default bridge has neither that nor walls between projects. So the floor is docker-py on a network of
the same kind, and docker-py on the default bridge is printed beside it: the difference is Docker's.
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
    """The floor: the client library alone, on a bridge network."""

    def __init__(self, url: str, network: str) -> None:
        self._client = docker.DockerClient(url, max_pool_size=AT_ONCE)
        self._network = network
        self._numbers = itertools.count()
        self._made: list[str] = []

    def run(self) -> None:
        api = self._client.api
        limits = api.create_host_config(mem_limit=f"{_MEMORY_MIB}m", network_mode=self._network)
        name = f"floor-{self._network}-{next(self._numbers)}"
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
            time.sleep(0.02)

    def await_all(self) -> None:
        while self._http.call("GET", "/containers?status=Creating&status=Created&limit=1")["containers"]:
            time.sleep(0.05)
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


def one_after_another(floor: DockerPy, plain: DockerPy, tierce: Tierce) -> None:
    # Every code path once, so that no side pays for a first time.
    for side in (floor, plain, tierce):
        side.run()
    rounds = [(timed(floor.run), timed(plain.run), timed(tierce.run)) for _ in range(RUNS)]
    floor_ms, plain_ms, tierce_ms = (median(times) * 1000 for times in zip(*rounds, strict=True))
    print(f"POST run to Running, median of {RUNS}, interleaved")
    print(f"  docker-py, a network of its own {floor_ms:7.1f} ms")
    print(f"  docker-py, the default bridge   {plain_ms:7.1f} ms")
    print(f"  Tierce                          {tierce_ms:7.1f} ms   ratio {tierce_ms / floor_ms:.2f}", end="")
    print(f" ({tierce_ms / plain_ms:.2f} to the default bridge)")
    for side in (floor, plain, tierce):
        side.clear()


def all_at_once(floor: DockerPy, plain: DockerPy, tierce: Tierce) -> None:
    rounds = []
    for _ in range(ROUNDS):
        # The project's network is there before, as the floor's is.
        tierce.run()
        rounds.append((at_once(floor.run), at_once(plain.run), at_once(tierce.post, tierce.await_all)))
        for side in (floor, plain, tierce):
            side.clear()
    floor_s, plain_s, tierce_s = (median(times) for times in zip(*rounds, strict=True))
    print(f"{AT_ONCE} at once until all run, median of {ROUNDS} rounds")
    print(f"  docker-py, a network of its own {floor_s:7.2f} s")
    print(f"  docker-py, the default bridge   {plain_s:7.2f} s")
    print(f"  Tierce                          {tierce_s:7.2f} s    ratio {tierce_s / floor_s:.2f}", end="")
    print(f" ({tierce_s / plain_s:.2f} to the default bridge)")


def main() -> None:
    with service_on_private_engine({"compute": {"initial_cpu_allocation_ratio": 1000}}) as (_, http, url):
        client = docker.DockerClient(url)
        client.networks.create("own", driver="bridge")
        client.close()
        floor, plain, tierce = DockerPy(url, "own"), DockerPy(url, "bridge"), Tierce(http)
        one_after_another(floor, plain, tierce)
        all_at_once(floor, plain, tierce)


if __name__ == "__main__":
    main()
