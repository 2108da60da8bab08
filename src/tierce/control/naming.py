"""Names of containers whose user gave none: `<greek letter>-<1..24>-container`."""

import random

_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau "
    "upsilon phi chi psi omega"
).split()


def generate(rng: random.Random) -> str:
    return f"{rng.choice(_LETTERS)}-{rng.randint(1, 24)}-container"
