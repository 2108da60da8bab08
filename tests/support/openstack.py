"""The `openstack` command, many times in one process: most of the time that one takes goes into its start."""

import json
import os
import pathlib
import shlex
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, Self

_PROGRAM = """
import contextlib, io, json, sys
from openstackclient import shell
for line in sys.stdin:
    output, complaints = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(complaints):
        try:
            code = shell.main(["appcontainer", *json.loads(line)])
        except SystemExit as end:
            code = end.code
    print(json.dumps([code, output.getvalue(), complaints.getvalue()]), flush=True)
"""


def with_password(url: str, user: str, password: str) -> Mapping[str, str]:
    """The variables that tell the command where the service is, and who asks."""
    return {"OS_AUTH_TYPE": "http_basic", "OS_ENDPOINT": url, "OS_USERNAME": user, "OS_PASSWORD": password}


class OpenStack:
    """`openstack appcontainer` for one user, with nothing of this machine's user; use it in a `with`."""

    def __init__(self, home: pathlib.Path, variables: Mapping[str, str]) -> None:
        self._environment = {"HOME": os.fspath(home), "PATH": os.environ["PATH"], **variables}

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return self

    def __exit__(self, *exc_info: object) -> None:
        # Closing its input ends it.
        self._process.communicate(timeout=20)

    def __call__(self, line: str, code: int = 0) -> str:
        """What `openstack appcontainer LINE` prints, words as in a shell; its complaints when it fails.

        AssertionError unless it ends with `code`.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(shlex.split(line)), file=self._process.stdin, flush=True)
        ended, output, complaints = json.loads(self._process.stdout.readline())
        assert ended == code, f"{line}: {ended}\n{output}{complaints}"
        return str(complaints if code else output)

    def json(self, command: str, arguments: str = "") -> Any:
        """What it tells. The option comes first: a container's command takes all that follows it."""
        return json.loads(self(f"{command} -f json {arguments}"))
