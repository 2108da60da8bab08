"""`/healthcheck`: oslo.middleware's, which looks at what the service depends on too.

Anybody may ask, so asking is cheap: of one dependency there is one look at a time, however many ask, and
nobody waits long for it. The server answers on threads apart, which requests cannot take.
"""

import concurrent.futures
import dataclasses
import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import oslo_middleware
from oslo_config import cfg
from oslo_middleware.healthcheck.pluginbase import HealthcheckResult

LOG = logging.getLogger(__name__)

PATH: Final = "/healthcheck"

_SECONDS: Final = 3.0
"""In which a dependency has answered, or counts as away."""


@dataclasses.dataclass(frozen=True, slots=True)
class Dependency:
    """What the service talks to. Without one that is `needed` it is not healthy.

    `answers` may take its time: it is called on a thread of its own.
    """

    name: str
    needed: bool
    answers: Callable[[], bool]


class Health(oslo_middleware.Healthcheck):  # type: ignore[misc]  # the library is not followed
    """The library's checks, and then the dependencies.

    Those that answer, and those that are not needed, are told of in the detailed form alone.
    """

    _backends: Iterable[Any]

    def __init__(self, application: Any, conf: cfg.ConfigOpts, dependencies: Sequence[Dependency]) -> None:
        super().__init__(application, conf)
        # The library makes its backends by name, and has no way to give them connections.
        self._backends = _Backends(self._backends, dependencies, conf.healthcheck.detailed)


class _Backends:
    """What the library goes through at each request: whatever has something to say then."""

    def __init__(self, library: Iterable[Any], dependencies: Sequence[Dependency], detailed: bool) -> None:
        self._library = library
        self._looks = [_Look(each) for each in dependencies if detailed or each.needed]
        self._detailed = detailed

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain(self._library, self._dependencies())

    def _dependencies(self) -> Iterator["_Backend"]:
        for look in self._looks:
            answers = look.answers()
            if self._detailed or not answers:
                yield _Backend(look.dependency, answers)


@dataclasses.dataclass(frozen=True, slots=True)
class _Backend:
    """A dependency in the shape of one of the library's extensions."""

    dependency: Dependency
    answers: bool

    @property
    def obj(self) -> "_Backend":
        return self

    def healthcheck(self, _port: int) -> HealthcheckResult:
        name, needed = self.dependency.name, self.dependency.needed
        return HealthcheckResult(
            available=self.answers or not needed,
            reason=f"{name.upper()} {'OK' if self.answers else 'AWAY'}",
            details="Every request needs it." if needed else "What is accepted without it is done later.",
        )


class _Look:
    """One question to a dependency at a time; whoever asks meanwhile waits for the same answer, as long
    as the first.
    """

    def __init__(self, dependency: Dependency) -> None:
        self.dependency = dependency
        self._lock = threading.Lock()
        self._answer: concurrent.futures.Future[bool] | None = None
        self._deadline = 0.0

    def answers(self) -> bool:
        """Whether it answers within `_SECONDS` of when it was asked."""
        with self._lock:
            if self._answer is None or self._answer.done():
                self._answer = concurrent.futures.Future()
                self._deadline = time.monotonic() + _SECONDS
                # An executor's thread would hold the end of the process while nothing answers.
                threading.Thread(target=self._ask, args=[self._answer], name="health", daemon=True).start()
            answer, deadline = self._answer, self._deadline
        try:
            return answer.result(max(0, deadline - time.monotonic()))
        except TimeoutError:
            return False

    def _ask(self, answer: "concurrent.futures.Future[bool]") -> None:
        try:
            answer.set_result(self.dependency.answers())
        except Exception:
            LOG.exception("Whether the %s answers cannot be told", self.dependency.name)
            answer.set_result(False)
