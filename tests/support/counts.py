"""What is asked of a database and a bus: counted as their servers would count it."""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, event

from tierce.rpc.inprocess import InProcessDriver


@dataclasses.dataclass
class Counts:
    """Since counting began. What only says how a transaction is to be is no statement."""

    statements: list[str] = dataclasses.field(default_factory=list)
    transactions: int = 0
    messages: int = 0


@contextlib.contextmanager
def counted(engine: Engine) -> Iterator[Counts]:
    """Count what is run on an engine, and what is sent on buses inside this process."""
    counts = Counts()

    def statement(_connection: object, _cursor: object, text: str, *_: object) -> None:
        if not text.startswith(("BEGIN", "SET")):
            counts.statements.append(text)

    def end(_connection: object) -> None:
        counts.transactions += 1

    send = InProcessDriver.send

    def sent(*args: Any, **more: Any) -> Any:
        counts.messages += 1
        return send(*args, **more)

    listeners = {"before_cursor_execute": statement, "commit": end, "rollback": end}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(InProcessDriver, "send", sent)
        for name, listener in listeners.items():
            event.listen(engine, name, listener)
        try:
            yield counts
        finally:
            for name, listener in listeners.items():
                event.remove(engine, name, listener)
