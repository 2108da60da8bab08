"""Which arguments of ps a client may give.

The engine runs ps on the node, as root, and picks the container's processes from its table by the
column PID. So what may be said is listed, each form having that column under that heading: there is no
option that reads files, shows environments or changes the table's shape.
"""

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, PlainValidator, WithJsonSchema

_STYLES: Final = frozenset("-e -f -l -F -ef -eF -el -elf aux auxf auxw auxww ax axu u x f".split())
_WIDTHS: Final = frozenset({"-w", "-ww"})
_COLUMNS: Final = frozenset(
    "pid ppid pgid sid user ruser uid group rgroup gid pcpu %cpu pmem %mem vsz rss size tty tt stat state s "
    "start start_time stime lstart etime etimes time cputime comm cmd args command c cp ni nice pri rtprio "
    "psr nlwp thcount wchan sz maj_flt min_flt cls policy".split()
)
_MOST_PIDS: Final = 100


def _ps_args(value: object) -> str:
    tokens = str(value).split()
    match tokens:
        case ["-o" | "-eo", columns, *rest] | ["-e", "-o", columns, *rest]:
            _require_columns(columns)
        case [style, *rest] if style in _STYLES:
            pass
        case _:
            rest = tokens
    if rest and rest[0] in _WIDTHS:
        rest = rest[1:]
    if len(rest) > _MOST_PIDS:
        raise ValueError(f"At most {_MOST_PIDS} process ids can be given.")
    for token in rest:
        if not (token.isascii() and token.isdigit() and len(token) <= 7):
            raise ValueError(
                f"{token[:32]!r} is not allowed there: give a style, or -o columns, or process ids."
            )
    return " ".join(tokens)


def _require_columns(text: str) -> None:
    columns = text.split(",")
    for column in columns:
        if column not in _COLUMNS:
            raise ValueError(f"{column[:32]!r} is not one of the columns that can be shown.")
    if "pid" not in columns:
        raise ValueError("The columns must have pid.")


def _default(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip() in ("", "None") else value


_Arguments = Annotated[
    str,
    PlainValidator(_ps_args),
    WithJsonSchema(
        {"description": "A style of ps, or -o columns; process ids.", "type": ["string", "integer"]}
    ),
]
PsArguments = Annotated[_Arguments | None, BeforeValidator(_default)]
"""Arguments of ps, single blanks between them; none for the engine's own choice."""
