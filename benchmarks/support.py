"""What the benchmarks share: a private Engine, a service on it, and medians."""

import contextlib
import pathlib
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from tests.support.engines import BUSYBOX, private_engine, url
from tests.support.service import Http, Service, running

IMAGE = BUSYBOX
COMMAND = ["sleep", "1000"]


@contextlib.contextmanager
def service_on_private_engine(
    options: Mapping[str, Mapping[str, object]] | None = None,
) -> Iterator[tuple[Service, Http, str]]:
    """A running standalone service, a client of it, and its Engine's URL."""
    with private_engine() as engine, tempfile.TemporaryDirectory() as home:
        service = Service(pathlib.Path(home), url(engine), options=options or {})
        with running(service):
            yield service, Http(service), url(engine)


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def pss_mib(pid: int) -> float:
    """Proportional set size of a process, MiB."""
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"no PSS for {pid}")


def cpu_seconds(pid: int) -> float:
    """CPU that a process has used, seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100
