"""What a call takes of a process's memory."""

import gc
import os
import pathlib
from collections.abc import Callable

from tierce.cli.malloc import give_large_blocks_back

give_large_blocks_back()  # Before anything of a test, as the programs do.


def resident_peak(work: Callable[[], object], pid: int | None = None) -> int:
    """Bytes by which the process (None: this one) is larger at the call's worst moment than before it."""
    gc.collect()
    process = pathlib.Path(f"/proc/{pid or os.getpid()}")
    (process / "clear_refs").write_text("5")  # the peak is measured from now on
    before = _kilobytes(process, "VmRSS")
    work()
    return (_kilobytes(process, "VmHWM") - before) * 1024


def _kilobytes(process: pathlib.Path, name: str) -> int:
    lines = (process / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
