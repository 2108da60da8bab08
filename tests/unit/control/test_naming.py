"""Names for containers whose user gave none."""

import itertools
import random
import re

from tierce.control import naming


def test_a_name_is_a_letter_a_number_and_the_word() -> None:
    rng = random.Random(0)
    names = {next(naming.candidates(rng)) for _ in range(2000)}
    assert all(re.fullmatch("[a-z]+-([1-9]|1[0-9]|2[0-4])-container", name) for name in names)
    assert len(names) > 400


def test_there_are_more_names_than_of_the_usual_form() -> None:
    names = {*itertools.islice(naming.candidates(random.Random(0)), 100)}
    assert all(re.fullmatch("[a-z]+-[1-9][0-9]*-container", name) for name in names)
    assert len(names) > 95


def test_the_same_randomness_gives_the_same_names() -> None:
    assert next(naming.candidates(random.Random(5))) == next(naming.candidates(random.Random(5)))
