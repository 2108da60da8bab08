"""Moments as users and messages write them: unix seconds in digits, or a date and time."""

import datetime
import re
from typing import Final

_BEYOND: Final = 10**11
"""The first second whose number has more digits than are read as one."""


def unix_seconds(text: str) -> float:
    """The moment in unix seconds, from digits or from an ISO 8601 date and time (UTC if it has no zone).

    Raises ValueError, whose text is for users, for what is neither, before 1970 or after the year 5138.
    """
    if re.fullmatch("[0-9]{1,11}", text):
        return float(text)
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("It must be unix seconds or a date, e.g. 2026-11-01 10:00:00,123.") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    seconds = moment.timestamp()
    if not 0 <= seconds < _BEYOND:
        raise ValueError("It must be from 1970 to 5138.")
    return seconds


def written(seconds: float) -> str:
    """A moment of unix seconds as Zun's nodes read it, too: they take digits for whole seconds alone."""
    if float(seconds).is_integer():
        return str(int(seconds))
    return f"{datetime.datetime.fromtimestamp(seconds, datetime.UTC):%Y-%m-%d %H:%M:%S,%f}"
