"""One pull for many who want the same image.

An engine asked twenty times for one image does twenty times the work, and some have mixed up the
layers while at it. So whoever asks for an image that is being pulled waits for that pull. A pull
belongs to none of its waiters: it runs in a thread of its own, and goes on when one of them gives up.

Not here: what a pull is, and whether one is needed.
"""

import contextlib
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future

from tierce.model.container import ImageFacts
from tierce.model.errors import RuntimeConflict

Progress = Callable[[], None]
Waiting = Callable[[], contextlib.AbstractContextManager[None]]
_Key = tuple[str, frozenset[tuple[str, str]]]


class _Pull:
    """A pull under way: its signs of life, and in the end its outcome, for all who wait."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._signs_of_life = 0
        self._outcome: Future[ImageFacts] = Future()

    def sign_of_life(self) -> None:
        with self._changed:
            self._signs_of_life += 1
            self._changed.notify_all()

    def end(self, outcome: ImageFacts | BaseException) -> None:
        with self._changed:
            if isinstance(outcome, BaseException):
                self._outcome.set_exception(outcome)
            else:
                self._outcome.set_result(outcome)
            self._changed.notify_all()

    def wait(self, progress: Progress) -> ImageFacts:
        """The outcome, result or error; `progress` is called in the waiter's own thread, at first once."""
        seen = -1
        while not self._outcome.done():
            latest = self._next_sign(seen)
            if latest != seen:
                progress()
            seen = latest
        return self._outcome.result()

    def _next_sign(self, seen: int) -> int:
        with self._changed:
            self._changed.wait_for(lambda: self._signs_of_life != seen or self._outcome.done())
            return self._signs_of_life


class PullCoordinator:
    """Every pull of one node."""

    def __init__(self, waiting: Waiting) -> None:
        """Who waits for a pull does so inside `waiting`."""
        self._waiting = waiting
        self._lock = threading.Lock()
        self._pulls: dict[_Key, _Pull] = {}

    def share(
        self,
        image: str,
        auth: Mapping[str, str] | None,
        pull: Callable[[Progress], ImageFacts],
        progress: Progress,
    ) -> ImageFacts:
        """Join the pull of `image` with these credentials, or begin it; return or raise what it does.

        What `progress` raises ends the wait: it is called once, at each sign of life, and at `look_again`.
        Credentials count: who may not pull an image must not get it from a pull of one who may. The
        pull itself ends by its own time limit, and an outcome is kept for nobody who comes later.
        """
        key = (image, frozenset((auth or {}).items()))
        with self._lock:
            shared = self._pulls.get(key)
            if shared is None:
                shared = _Pull()
                # A daemon: a pull can be begun again, so it must not hold up the end of the program.
                threading.Thread(
                    target=self._run, args=(key, shared, pull), name="image-pull", daemon=True
                ).start()
                # Not before: where a thread cannot be had, nobody is to wait for this pull.
                self._pulls[key] = shared
        with self._waiting():
            return shared.wait(progress)

    def look_again(self) -> None:
        """Have everybody who waits call its `progress`."""
        with self._lock:
            pulls = list(self._pulls.values())
        for pull in pulls:
            pull.sign_of_life()

    @contextlib.contextmanager
    def without_pulls_of(self, images: Collection[str]) -> Iterator[None]:
        """Inside, no pull begins. Raises RuntimeConflict when one of these images is being pulled."""
        with self._lock:
            for image, _ in self._pulls:
                if image in images:
                    raise RuntimeConflict(f"Image {image} is being pulled.")
            yield

    def _run(self, key: _Key, shared: _Pull, pull: Callable[[Progress], ImageFacts]) -> None:
        outcome: ImageFacts | BaseException
        try:
            outcome = pull(shared.sign_of_life)
        except BaseException as error:  # noqa: BLE001 - it belongs to those who wait, whatever it is
            outcome = error
        # Forgotten first: one who hears of a failure and tries again must begin a new pull.
        with self._lock:
            del self._pulls[key]
        shared.end(outcome)
