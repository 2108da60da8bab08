"""Arguments of messages, checked: another program may have sent them. What is wrong raises Invalid."""

import re
from typing import Any

from tierce.model.container import MAX_CHARACTERS
from tierce.model.errors import Invalid
from tierce.model.moments import unix_seconds
from tierce.networks.base import RequestedNetwork


def text(value: object) -> str | None:
    """The value as text; nothing travels as null, or as the word `None`."""
    return None if value in (None, "None") else str(value)


def characters(value: str | int | None) -> int:
    """A height or width, which travels as text. Only what a terminal can have."""
    digits = str(value)
    if not re.fullmatch("[0-9]{1,5}", digits) or not 1 <= int(digits) <= MAX_CHARACTERS:
        raise Invalid(f"The size of a terminal is from 1 to {MAX_CHARACTERS} characters each way.")
    return int(digits)


def seconds(timeout: str | int | None) -> int | None:
    """Seconds of grace; None leaves them to the runtime."""
    digits = text(timeout) or ""
    if not re.fullmatch("[0-9]{0,9}", digits):
        raise Invalid("The timeout is no number of seconds.")
    return int(digits) if digits else None


def since(value: str | None) -> float | None:
    """Unix seconds."""
    moment = text(value)
    try:
        return None if moment is None else unix_seconds(moment)
    except ValueError as exc:
        raise Invalid(f"since: {exc}") from exc


def networks(requested: object) -> list[dict[str, Any]]:
    """The networks of a message that another program may have sent."""
    if not isinstance(requested, list):
        raise Invalid("The requested networks are no list.")
    return [RequestedNetwork.from_wire(item).to_wire() for item in requested]
