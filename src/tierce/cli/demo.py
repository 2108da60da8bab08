"""The first run's own tools: look for an Engine, have a small image, run one container over HTTP.

`./quickstart` calls it as `python -m tierce.cli.demo engine|image|run`; it is no part of the service, and
takes what it needs from its arguments and from the variables that `openrc` exports.
"""

import argparse
import base64
import contextlib
import io
import json
import os
import secrets
import sys
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import docker
import requests

REGISTRY_IMAGE = "busybox:1.36"
LOCAL_IMAGE = "tierce-demo:1"
ENGINE_TIMEOUT = 30
"""Seconds that a call to the Engine may take."""
REGISTRY_PATIENCE = 5
"""Seconds without a sign of life after which a registry counts as out of reach."""
PULL_DEADLINE = 60
"""Seconds that a pull which does make progress may take."""
RUN_DEADLINE = 60
"""Seconds that the first container may take for each of its states."""
API_VERSION = "container 1.40"

APPLETS = (
    "[ awk basename cat chmod cp cut date df dirname du echo env expr false find free grep gunzip gzip head "
    "hostname httpd id ifconfig ip kill ln ls md5sum mkdir mktemp mount mv nc nslookup od ping printf ps pwd "
    "readlink rm rmdir route sed seq sh sha256sum sleep sort stat sync tail tar tee test timeout top touch "
    "tr true tty uname uniq uptime vi wc wget which whoami xargs yes"
).split()
"""Names under which the local image offers its one program."""


class Failure(Exception):
    """The step failed; the message says what to do."""


def engine_version(url: str) -> str:
    """The version of the Engine at `url`. Raises Failure when none answers."""
    try:
        with _engine(url, ENGINE_TIMEOUT) as client:
            facts = client.version()
    except (docker.errors.DockerException, requests.RequestException) as error:
        raise Failure(f"no Docker Engine answers at {url}") from error
    return f"{facts['Version']} (API {facts['ApiVersion']})"


def ensure_image(url: str, busybox: Path | None) -> str:
    """Ensure that the Engine has a small image with a shell, and return its reference.

    It is what the Engine has already, else one made of the static program `busybox`, if that is given,
    else one from the registry. Raises Failure when the registry cannot be reached, or has no answer.
    """
    with _engine(url, ENGINE_TIMEOUT) as client:
        for reference in (REGISTRY_IMAGE, LOCAL_IMAGE):
            if client.images(name=reference):
                return reference
        if busybox:
            repository, _, tag = LOCAL_IMAGE.partition(":")
            changes = ['CMD ["sh"]', "ENV PATH=/bin"]
            client.import_image_from_data(image_archive(busybox.read_bytes()), repository, tag, changes)
            return LOCAL_IMAGE
    if _pull(url, REGISTRY_IMAGE):
        return REGISTRY_IMAGE
    raise Failure(f"{REGISTRY_IMAGE} cannot be pulled: no registry answers the Engine at {url}")


def image_archive(program: bytes) -> bytes:
    """The root file system of the local image, as a tar archive: `program` under many names."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:

        def add(name: str, kind: bytes, mode: int, content: bytes = b"", link: str = "") -> None:
            member = tarfile.TarInfo(name)
            member.type, member.mode, member.size, member.linkname = kind, mode, len(content), link
            archive.addfile(member, io.BytesIO(content))

        add("bin", tarfile.DIRTYPE, 0o755)
        add("etc", tarfile.DIRTYPE, 0o755)
        add("tmp", tarfile.DIRTYPE, 0o1777)
        add("etc/passwd", tarfile.REGTYPE, 0o644, b"root:x:0:0:root:/:/bin/sh\n")
        add("bin/busybox", tarfile.REGTYPE, 0o755, program)
        for applet in APPLETS:
            add(f"bin/{applet}", tarfile.SYMTYPE, 0o777, link="busybox")
    return buffer.getvalue()


class Api:
    """As much of a client as the first run needs."""

    def __init__(self, endpoint: str, username: str, password: str) -> None:
        token = base64.b64encode(f"{username}:{password}".encode()).decode()
        self._endpoint = endpoint
        self._headers = {
            "Authorization": f"Basic {token}",
            "OpenStack-API-Version": API_VERSION,
            "Content-Type": "application/json",
        }

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The decoded answer. Raises Failure with the service's reason, or when it does not answer."""
        data = None if body is None else json.dumps(body).encode()
        url = self._endpoint + path
        request = urllib.request.Request(url, data, self._headers, method=method)  # noqa: S310 - our own URL
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
                content = answer.read()
        except urllib.error.HTTPError as error:
            raise Failure(f"{method} {path} was answered {error.code}: {_reason(error)}") from error
        except OSError as error:
            raise Failure(f"{self._endpoint} does not answer: {error}") from error
        return json.loads(content) if content else None

    def wait(self, name: str, done: Callable[[Any], bool]) -> None:
        """Wait until `done` says so of the container, which is None when there is no such container.

        Raises Failure when it turns to Error, or after RUN_DEADLINE.
        """
        deadline = time.monotonic() + RUN_DEADLINE
        while True:
            found = self.call("GET", f"/containers?name={name}")["containers"]
            container = found[0] if found else None
            if done(container):
                return
            if container is None:
                raise Failure(f"the container {name} has disappeared")
            if container["status"] == "Error":
                raise Failure(f"the container ended in Error: {container['status_reason']}")
            if time.monotonic() > deadline:
                raise Failure(f"the container is still {container['status']} after {RUN_DEADLINE} s")
            time.sleep(0.05)

    def delete(self, name: str) -> None:
        """Delete the container, running or not, and wait until it is gone. Raises Failure."""
        self.call("DELETE", f"/containers/{name}?force=true")
        self.wait(name, lambda container: container is None)


def first_container(api: Api, image: str, name: str) -> str:
    """Run one container to its end, delete it, and return what it wrote.

    Nothing of it is left, whatever happened. Raises Failure with the service's own reason.
    """
    command = ["sh", "-c", "echo Hello from a container named $(hostname)"]
    body = {"name": name, "hostname": name, "image": image, "command": command}
    api.call("POST", "/containers?run=true", body)
    try:
        api.wait(name, lambda container: container is not None and container["status"] == "Stopped")
        output = str(api.call("GET", f"/containers/{name}/logs"))
    except Failure:
        with contextlib.suppress(Failure):  # the first reason is the one to tell
            api.delete(name)
        raise
    api.delete(name)
    return output


def _reason(error: urllib.error.HTTPError) -> str:
    """The first sentence of an error answer, or the status line's when the body is not one of ours."""
    try:
        return str(json.loads(error.read())["errors"][0]["title"])
    except (ValueError, LookupError, TypeError):
        return error.reason


def _engine(url: str, timeout: int) -> docker.APIClient:
    return docker.APIClient(base_url=url, version="auto", timeout=timeout)


def _pull(url: str, reference: str) -> bool:
    """Fetch the image if its registry answers soon and goes on sending; say whether that succeeded."""
    deadline = time.monotonic() + PULL_DEADLINE
    try:
        with _engine(url, REGISTRY_PATIENCE) as client:
            for event in client.pull(reference, stream=True, decode=True):
                if "error" in event or time.monotonic() > deadline:
                    return False
    except (docker.errors.DockerException, requests.RequestException):
        return False
    return True


def main(argv: Sequence[str]) -> int:
    """Carry out one step: its result on stdout and 0, or one sentence on stderr and 1."""
    parser = argparse.ArgumentParser(prog="tierce.cli.demo", description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    engine, image, _ = (steps.add_parser(step) for step in ("engine", "image", "run"))
    for step in (engine, image):
        step.add_argument("--docker", required=True, metavar="URL")
    image.add_argument("--busybox", type=Path, metavar="FILE", help="make the image of this static program")
    args = parser.parse_args(argv)
    try:
        if args.step == "engine":
            print(engine_version(args.docker))
        elif args.step == "image":
            print(ensure_image(args.docker, args.busybox))
        else:
            api = Api(os.environ["OS_ENDPOINT"], os.environ["OS_USERNAME"], os.environ["OS_PASSWORD"])
            name = f"hello-{secrets.token_hex(3)}"
            print(first_container(api, os.environ["TIERCE_DEMO_IMAGE"], name), end="")
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
