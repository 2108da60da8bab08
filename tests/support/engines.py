"""Private Docker Engines for tests, one a session; several sessions may run side by side."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

import pytest

from tests.support.private_registry import write_authority

SUPPORT = pathlib.Path(__file__).parent

BUSYBOX = "tierce-test/busybox:1"
"""A shell and the usual small programs."""

NOSHELL = "tierce-test/noshell:1"
"""One static program as its entry point, and no shell."""

SUITE = os.environ.get("TIERCE_TEST_ENGINE", "host")
"""Whose Engine the session's is: this machine's, or that of a release of Debian. See engine.sh."""


@contextlib.contextmanager
def private_engine(suite: str = "host") -> Iterator[pathlib.Path]:
    """A running Engine that has BUSYBOX and NOSHELL; yields its directory. See engine.sh for `suite`."""
    # Not under pytest's own directories: a socket's path has a limit of 108 bytes.
    directory = pathlib.Path(tempfile.mkdtemp(prefix="engine-", dir="/tmp"))
    try:
        write_authority(directory)
        _run("engine.sh", "up", str(directory), suite, str(os.getpid()))
        _run("image.sh", BUSYBOX, engine=directory)
        _run("image.sh", NOSHELL, "noshell", engine=directory)
        yield directory
    finally:
        _run("engine.sh", "down", str(directory))
        shutil.rmtree(directory)


def url(directory: pathlib.Path) -> str:
    return f"unix://{directory}/run/docker.sock"


@pytest.fixture(scope="session")
def docker_engine_directory() -> Iterator[pathlib.Path]:
    """The session's Engine, of the suite `SUITE`."""
    with private_engine(SUITE) as directory:
        yield directory


@pytest.fixture(scope="session")
def docker_engine(docker_engine_directory: pathlib.Path) -> str:
    """The session's Engine, by its URL."""
    return url(docker_engine_directory)


def _run(script: str, *arguments: str, engine: pathlib.Path | None = None) -> None:
    environment = {**os.environ, "DOCKER_HOST": url(engine)} if engine else None
    done = subprocess.run(
        [SUPPORT / script, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{script} {' '.join(arguments)} failed:\n{done.stderr}")
