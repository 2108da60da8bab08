"""A registry that asks for a password, with TLS under an authority of its own, beside one private Engine.

It is Debian's `docker-registry`, in the Engine's network namespace. Its address is not a loopback one,
which Engines would ask without TLS.
"""

import contextlib
import datetime
import ipaddress
import pathlib
import subprocess
import time
from collections.abc import Iterator, Mapping

import bcrypt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.support.waiting import DEADLINE

_HOST = "10.99.99.1"
ADDRESS = f"{_HOST}:5443"
_AUTHORITY, _AUTHORITY_KEY = "registry-ca.pem", "registry-ca.key"
"""Files in the directory of an Engine; `engine.sh` has it trust the first."""

_AUTHORITY_NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of a test")])

_CONFIG = """\
version: 0.1
log: {{level: warn}}
storage: {{filesystem: {{rootdirectory: {directory}/data}}}}
http:
  addr: {address}
  secret: of this test
  tls: {{certificate: {directory}/server.pem, key: {directory}/server.key}}
auth: {{htpasswd: {{realm: test, path: {directory}/htpasswd}}}}
"""


@contextlib.contextmanager
def private_registry(
    engine: pathlib.Path, directory: pathlib.Path, users: Mapping[str, str]
) -> Iterator[None]:
    """Serve at ADDRESS to the Engine of that directory (see `engines.py`); `users` have these passwords.

    What it keeps is under `directory`.
    """
    _write_certificate(directory, engine)
    lines = [
        f"{name}:{bcrypt.hashpw(word.encode(), bcrypt.gensalt(4)).decode()}" for name, word in users.items()
    ]
    (directory / "htpasswd").write_text("\n".join(lines) + "\n")
    config = directory / "config.yml"
    config.write_text(_CONFIG.format(directory=directory, address=ADDRESS))

    pid = (engine / "run" / "docker.pid").read_text()
    inside = ["nsenter", "--net", "--target", pid]
    subprocess.run([*inside, "ip", "address", "replace", f"{_HOST}/32", "dev", "lo"], check=True)
    log = directory / "log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [*inside, "docker-registry", "serve", config],
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
        ) as process,
    ):
        try:
            _wait_until_it_serves(inside, process, log)
            yield
        finally:
            process.terminate()


def _wait_until_it_serves(inside: list[str], process: "subprocess.Popen[bytes]", log: pathlib.Path) -> None:
    deadline = time.monotonic() + DEADLINE
    ask = [*inside, "curl", "--silent", "--insecure", "--output", "/dev/null", f"https://{ADDRESS}/v2/"]
    while subprocess.run(ask, check=False).returncode:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)


def write_authority(engine: pathlib.Path) -> None:
    """Make the authority of what serves this Engine over TLS.

    An Engine reads it once, when it first speaks TLS to anybody: it has to be there before the Engine starts.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    extension = x509.BasicConstraints(ca=True, path_length=None)
    (engine / _AUTHORITY).write_bytes(_signed(_AUTHORITY_NAME, key, key, extension))
    _write_key(engine / _AUTHORITY_KEY, key)


def _write_certificate(directory: pathlib.Path, engine: pathlib.Path) -> None:
    """`server.pem` with `server.key` for the registry's address, under the Engine's authority."""
    authority_key = serialization.load_pem_private_key((engine / _AUTHORITY_KEY).read_bytes(), password=None)
    assert isinstance(authority_key, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _HOST)])
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(_HOST))])
    (directory / "server.pem").write_bytes(_signed(name, key, authority_key, address))
    _write_key(directory / "server.key", key)


def _signed(
    name: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    authority_key: ec.EllipticCurvePrivateKey,
    extension: x509.ExtensionType,
) -> bytes:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder(
            issuer_name=_AUTHORITY_NAME,
            subject_name=name,
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=now - datetime.timedelta(hours=1),
            not_valid_after=now + datetime.timedelta(days=1),
        )
        .add_extension(extension, critical=False)
        .sign(authority_key, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )


def _write_key(file: pathlib.Path, key: ec.EllipticCurvePrivateKey) -> None:
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
