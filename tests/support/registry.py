"""A small read-only image registry for one private Engine, in whose network namespace it runs.

As a program it serves until its standard input ends. Source: the OCI distribution specification.
"""

import contextlib
import gzip
import hashlib
import http.server
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator

ADDRESS = "127.0.0.1:5000"
"""An address of the machine itself, which an Engine asks without TLS."""

IMAGE = f"{ADDRESS}/team/app:1"
"""The one image: it sleeps for an hour, and has the program `busybox`."""

_TYPE = "application/vnd.docker."


@contextlib.contextmanager
def registry(engine: pathlib.Path) -> Iterator[None]:
    """A registry beside the Engine of this directory (see `engines.py`)."""
    pid = (engine / "run" / "docker.pid").read_text()
    command = ["nsenter", "--net", "--target", pid, sys.executable, __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield
        process.stdin.close()


def _contents() -> dict[str, tuple[str, bytes]]:
    """The repository's objects: what follows its name in their path -> content type and bytes."""
    program = pathlib.Path(shutil.which("busybox") or "busybox").read_bytes()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo("busybox")
        member.size, member.mode = len(program), 0o755
        archive.addfile(member, io.BytesIO(program))
    layer = gzip.compress(buffer.getvalue(), compresslevel=1)
    config = json.dumps(
        {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Entrypoint": ["/busybox"], "Cmd": ["sleep", "3600"]},
            "rootfs": {"type": "layers", "diff_ids": [_digest(buffer.getvalue())]},
        }
    ).encode()
    blobs = {
        f"{_TYPE}container.image.v1+json": config,
        f"{_TYPE}image.rootfs.diff.tar.gzip": layer,
    }
    described = [
        {"mediaType": kind, "size": len(blob), "digest": _digest(blob)} for kind, blob in blobs.items()
    ]
    kind = f"{_TYPE}distribution.manifest.v2+json"
    manifest = json.dumps(
        {"schemaVersion": 2, "mediaType": kind, "config": described[0], "layers": described[1:]}
    ).encode()
    return {
        **{f"blobs/{_digest(blob)}": ("application/octet-stream", blob) for blob in blobs.values()},
        "manifests/1": (kind, manifest),
        f"manifests/{_digest(manifest)}": (kind, manifest),
    }


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _serve() -> None:
    objects = {f"/v2/team/app/{path}": found for path, found in _contents().items()}
    objects["/v2/"] = ("application/json", b"{}")
    # Without a detail, Engines take this for a failure of the registry.
    error = {"code": "MANIFEST_UNKNOWN", "message": "manifest unknown", "detail": {}}
    missing = ("application/json", json.dumps({"errors": [error]}).encode())

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            kind, body = objects.get(self.path, missing)
            self.send_response(200 if self.path in objects else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Docker-Content-Digest", _digest(body))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Requests are not told."""

    host, _, port = ADDRESS.partition(":")
    with http.server.ThreadingHTTPServer((host, int(port)), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print("ready", flush=True)
        sys.stdin.read()
        server.shutdown()


if __name__ == "__main__":
    _serve()
