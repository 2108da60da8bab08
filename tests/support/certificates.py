"""An authority of a test's own, and the certificate of one server on this machine."""

import datetime
import ipaddress
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Certificates:
    """PEM files in a directory: `authority`, `certificate` (of localhost) and its `key`."""

    def __init__(self, directory: pathlib.Path) -> None:
        directory.mkdir()
        self.authority = directory / "authority.pem"
        self.certificate = directory / "certificate.pem"
        self.key = directory / "key.pem"
        issuer, issuer_key = _name("authority of a test"), ec.generate_private_key(ec.SECP256R1())
        authority = _builder(issuer, issuer, issuer_key).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        server = _builder(_name("localhost"), issuer, key).add_extension(
            x509.SubjectAlternativeName(names), critical=False
        )
        for file, builder in ((self.authority, authority), (self.certificate, server)):
            signed = builder.sign(issuer_key, hashes.SHA256())
            file.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        self.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
    )
