"""What the processes of the fake engine do: a handful of commands, enough to write scenarios with. Pure.

`true`, `false`, `echo WORD...`, `sleep SECONDS`, and `sh -c SCRIPT` with these and `exit CODE`, parted
by `;`, where `>&2` sends an output to stderr. What lies under `/nosuch` cannot be executed. Everything
else is a program that this fake knows nothing about.
"""

import dataclasses
import math
import shlex
from collections.abc import Sequence

STDOUT, STDERR = "stdout", "stderr"


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """How a command runs: the lines it writes at once, the seconds it then takes, its exit code."""

    lines: Sequence[tuple[str, bytes]] = ()
    duration: float = 0.0
    exit_code: int = 0


def executable(command: Sequence[str]) -> bool:
    return not (command and command[0].startswith("/nosuch"))


def run(command: Sequence[str], unknown: Run) -> Run:
    """How `command` runs; `unknown` is for programs that this fake does not know."""
    match [*command]:
        case ["true", *_]:
            return Run()
        case ["false", *_]:
            return Run(exit_code=1)
        case ["exit", code]:
            return Run(exit_code=int(code))
        case ["echo", *words, ">&2"]:
            return Run(lines=((STDERR, _line(words)),))
        case ["echo", *words]:
            return Run(lines=((STDOUT, _line(words)),))
        case ["sleep", seconds]:
            return Run(duration=float(seconds))
        case ["sh" | "/bin/sh", "-c", script]:
            return _script(script, unknown)
    return unknown


def _script(script: str, unknown: Run) -> Run:
    lines: list[tuple[str, bytes]] = []
    duration = 0.0
    code = 0
    for statement in script.split(";"):
        step = run(shlex.split(statement), unknown)
        lines += step.lines
        duration += step.duration
        code = step.exit_code
        if statement.split()[:1] == ["exit"] or math.isinf(duration):
            break
    return Run(tuple(lines), duration, code)


def _line(words: Sequence[str]) -> bytes:
    return " ".join(words).encode() + b"\n"
