"""Names of containers whose user gave none: `<greek letter>-<1..24>-container`, if that is free."""

import itertools
import random
from collections.abc import Iterator

_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau "
    "upsilon phi chi psi omega"
).split()


def candidates(rng: random.Random) -> Iterator[str]:
    """Names without end, to be tried until one is free.

    There are few of the usual form, so each that is not free is followed by one of 24 times as many.
    """
    for tries in itertools.count(1):
        yield f"{rng.choice(_LETTERS)}-{rng.randint(1, 24**tries)}-container"
