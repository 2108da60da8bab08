"""Parameters of the actions on one container."""

import re
from typing import Annotated, Final

from pydantic import PlainValidator, WithJsonSchema

from tierce.api.requests.containers import WORDS_SCHEMA, fits_command, split_command, words
from tierce.api.requests.fields import MAX_INT, BoolExtended, Grace, Name, NoneWord
from tierce.api.requests.ps import PsArguments
from tierce.api.requests.schema import Params
from tierce.model.moments import unix_seconds
from tierce.model.spec import LogsRequest

SIGNALS: Final = {
    "HUP": 1,
    "INT": 2,
    "QUIT": 3,
    "ILL": 4,
    "TRAP": 5,
    "ABRT": 6,
    "BUS": 7,
    "FPE": 8,
    "KILL": 9,
    "USR1": 10,
    "SEGV": 11,
    "USR2": 12,
    "PIPE": 13,
    "ALRM": 14,
    "TERM": 15,
    "STKFLT": 16,
    "CHLD": 17,
    "CONT": 18,
    "STOP": 19,
    "TSTP": 20,
    "TTIN": 21,
    "TTOU": 22,
    "URG": 23,
    "XCPU": 24,
    "XFSZ": 25,
    "VTALRM": 26,
    "PROF": 27,
    "WINCH": 28,
    "IO": 29,
    "PWR": 30,
    "SYS": 31,
    "RTMIN": 34,
    "RTMAX": 64,
}
"""Linux's numbers, written down so that they do not depend on the machine that runs the API."""

_SPELLINGS: Final = {
    spelling: f"SIG{name}"
    for name, number in SIGNALS.items()
    for spelling in (f"SIG{name}", name, f"SIG{name}".lower(), name.lower(), str(number))
}


def _signal(value: object) -> str:
    spelling = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(spelling, str) or spelling not in _SPELLINGS:
        raise ValueError("It must be a signal's name or number, e.g. SIGTERM, TERM, term or 15.")
    return _SPELLINGS[spelling]


Signal = Annotated[
    str,
    PlainValidator(_signal),
    WithJsonSchema(
        {
            "description": "A signal's name or number.",
            "anyOf": [
                {"type": "string", "enum": [*_SPELLINGS]},
                {"type": "integer", "enum": [*SIGNALS.values()]},
            ],
        }
    ),
]


class Kill(Params):
    """The signal in its one full spelling; none means the runtime's default, KILL."""

    signal: Annotated[Signal | None, NoneWord] = None


class Stop(Params):
    """Seconds until the kill: of stop and reboot. 0 is at once, none the runtime's default."""

    timeout: Grace = None


class Rename(Params):
    name: Name


def _lines(value: object) -> int | None:
    """A number of lines; whatever is not one means all, as it always did."""
    text = str(value)
    if not re.fullmatch("[0-9]+", text) or len(text) > 10 or int(text) > MAX_INT:
        return None
    return int(text)


Lines = Annotated[
    int | None,
    PlainValidator(_lines),
    WithJsonSchema(
        {"description": "Lines at the end; what is no number is all.", "type": ["integer", "string"]}
    ),
]
Moment = Annotated[
    float,
    PlainValidator(lambda value: unix_seconds(str(value))),
    WithJsonSchema(
        {
            "description": "Unix seconds, or a date and time in ISO 8601, UTC if it has no zone.",
            "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "minLength": 1}],
        }
    ),
]


class Logs(Params):
    """With neither stream asked for, both are meant: the engine refuses none."""

    stdout: BoolExtended = True
    stderr: BoolExtended = True
    timestamps: BoolExtended = False
    tail: Lines = None
    since: Moment | None = None

    def to_request(self) -> LogsRequest:
        neither = not (self.stdout or self.stderr)
        return LogsRequest(
            stdout=self.stdout or neither,
            stderr=self.stderr or neither,
            timestamps=self.timestamps,
            tail=self.tail,
            since=self.since,
        )


def _words_to_run(value: object) -> tuple[str, ...]:
    command = split_command(value) if isinstance(value, str) else words(value)
    if not command or not command[0]:
        raise ValueError("It must name a program.")
    return fits_command(command)


class Execute(Params):
    """A command line, split by shell rules without a shell, or an array of words."""

    command: Annotated[
        tuple[str, ...],
        PlainValidator(_words_to_run),
        WithJsonSchema({"anyOf": [{"type": "string", "minLength": 1}, {**WORDS_SCHEMA, "minItems": 1}]}),
    ]
    run: BoolExtended = True
    interactive: BoolExtended = False


class Top(Params):
    ps_args: PsArguments | None = None
