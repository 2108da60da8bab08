"""From the Engine's words about containers to ContainerReport. Pure."""

import contextlib
import datetime
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tierce.model.container import ContainerReport, Endpoint, RuntimeState
from tierce.model.errors import RuntimeFailure

_NEVER = "0001-01-01T00:00:00"
_RUNS = frozenset({RuntimeState.RUNNING, RuntimeState.PAUSED})


@contextlib.contextmanager
def readable() -> Iterator[None]:
    """Around what reads an answer: RuntimeFailure when the answer has not the shape that it must have.

    Something stands between us and the Engine then, or it is ill: `null` has been seen.
    """
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError, StopIteration) as error:
        raise RuntimeFailure("Docker's answer makes no sense.") from error


def from_inspection(data: Mapping[str, Any]) -> ContainerReport:
    """What `GET /containers/{id}/json` says. RuntimeFailure when it has no state that this program knows."""
    facts = data.get("State") or {}
    config = data.get("Config") or {}
    state = _state(facts.get("Status"))
    finished_at = timestamp(facts.get("FinishedAt"))
    error = facts.get("Error") or ""
    # The Engine says 0 while no end has set a code. A start that failed sets code and error, and no end.
    ended = state not in _RUNS and (finished_at or error)
    return ContainerReport(
        id=data["Id"],
        name=data["Name"].removeprefix("/"),
        state=state,
        image=config.get("Image") or "",
        exit_code=facts.get("ExitCode") if ended else None,
        error=error,
        oom_killed=bool(facts.get("OOMKilled")),
        pid=facts.get("Pid") or 0,
        started_at=timestamp(facts.get("StartedAt")),
        finished_at=finished_at,
        hostname=config.get("Hostname") or None,
        runtime=(data.get("HostConfig") or {}).get("Runtime") or None,
        command=tuple(config.get("Cmd") or ()),
        entrypoint=tuple(config.get("Entrypoint") or ()),
        ports=sorted({int(port.partition("/")[0]) for port in config.get("ExposedPorts") or ()}),
        labels=config.get("Labels") or {},
        endpoints=_endpoints((data.get("NetworkSettings") or {}).get("Networks") or {}),
        tty=bool(config.get("Tty")),
    )


def from_listing(entry: Mapping[str, Any]) -> ContainerReport:
    """One entry of `GET /containers/json`: id, name, state and labels."""
    # A linked container is listed under its own name and as `/other/alias`.
    name = next(name for name in entry["Names"] if name.count("/") == 1)
    return ContainerReport(
        id=entry["Id"],
        name=name.removeprefix("/"),
        state=_state(entry.get("State")),
        labels=entry.get("Labels") or {},
    )


def timestamp(text: str | None) -> datetime.datetime | None:
    """An RFC 3339 time of up to nanoseconds, as naive UTC; the Engine's year 1 is never: None."""
    if not text or text.startswith(_NEVER):
        return None
    microseconds = re.sub(r"(\.\d{6})\d+", r"\1", text)
    return datetime.datetime.fromisoformat(microseconds).astimezone(datetime.UTC).replace(tzinfo=None)


def _state(word: str | None) -> RuntimeState:
    try:
        return RuntimeState(word or "")
    except ValueError:
        raise RuntimeFailure(f"Docker reports a container state that makes no sense: {word!r}.") from None


def _endpoints(networks: Mapping[str, Mapping[str, Any]]) -> tuple[Endpoint, ...]:
    """The network `none` is the Engine's way to say that there is none."""
    return tuple(
        Endpoint(
            network=name,
            endpoint_id=endpoint.get("EndpointID") or "",
            network_id=endpoint.get("NetworkID") or "",
            ipv4=endpoint.get("IPAddress") or None,
            ipv6=endpoint.get("GlobalIPv6Address") or None,
            mac_address=endpoint.get("MacAddress") or None,
        )
        for name, endpoint in networks.items()
        if name != "none"
    )
