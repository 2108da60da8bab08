"""Names for containers whose user gave none."""

import random
import re

from tierce.control import naming


def test_a_name_is_a_letter_a_number_and_the_word() -> None:
    rng = random.Random(0)
    names = {naming.generate(rng) for _ in range(2000)}
    assert all(re.fullmatch("[a-z]+-([1-9]|1[0-9]|2[0-4])-container", name) for name in names)
    assert len(names) > 400


def test_the_same_randomness_gives_the_same_names() -> None:
    assert naming.generate(random.Random(5)) == naming.generate(random.Random(5))
