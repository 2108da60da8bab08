"""Times as the API writes them: naive UTC, in the two formats that clients parse, and ages."""

import datetime


def seconds(moment: datetime.datetime | None) -> str | None:
    """`2026-11-01 10:00:00`."""
    return None if moment is None else moment.isoformat(" ", "seconds")


def microseconds(moment: datetime.datetime | None) -> str | None:
    """`2026-11-01T10:00:00.000000`, always with six digits."""
    return None if moment is None else moment.isoformat("T", "microseconds")


def age(moment: datetime.datetime, now: datetime.datetime) -> str:
    """How long ago, in the largest unit only: `2 days`, `5 hours`, `1 mins`, `0 seconds`.

    A moment in the future (a node's clock is ahead) is 0 seconds ago.
    """
    elapsed = now - moment
    if elapsed.days > 0:
        return f"{elapsed.days} days"
    past = max(0, elapsed.days * 86400 + elapsed.seconds)
    if past >= 3600:
        return f"{past // 3600} hours"
    if past >= 60:
        return f"{past // 60} mins"
    return f"{past} seconds"
