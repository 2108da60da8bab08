"""Secrets at rest: the keys that passwords in the database are encrypted with.

The token's format and the derivation of its key are those of the reference (part 9 of its database), so
that what it stored can be read with its `auth_encryption_key`. Not here: whose secret it is.
"""

import base64
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from oslo_config import cfg

from tierce.model.errors import InvalidEncryptionKey

KEY_LENGTH = 32
"""Characters of a key that count, and bytes that they must be."""

MAX_SECRET = 127
"""Bytes of the longest secret whose token fits the column of 255 characters."""

_PUBLISHED = "notgood but just long enough i t"
"""The reference's default: everybody knows it, so it may only read what was written with it."""


class Keyring:
    """Keys in order: the first encrypts, all of them decrypt. Without any it can do neither."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Raises InvalidEncryptionKey for a key that is too short, and for a first one that is no secret."""
        if keys and keys[0].startswith(_PUBLISHED):
            raise InvalidEncryptionKey(
                "The first auth_encryption_key is the published default, which protects nothing. "
                "Put a key of your own before it."
            )
        fernets = [Fernet(_derived(key)) for key in keys]
        self._newest = fernets[0] if fernets else None
        self._all = MultiFernet(fernets) if fernets else None

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "Keyring":
        """The keys of `[DEFAULT] auth_encryption_key`, else those in `auth_encryption_key_file`."""
        file = Path(conf.auth_encryption_key_file)
        if conf.auth_encryption_key or not file.exists():
            return cls(conf.auth_encryption_key)
        return cls([line for line in file.read_text().splitlines() if line])

    def encrypt(self, secret: str) -> str:
        """A token that is another one each time. Raises InvalidEncryptionKey when there is no key."""
        if self._newest is None:
            raise InvalidEncryptionKey(
                "This service has no key to keep passwords with: its operator sets "
                "`auth_encryption_key` in [DEFAULT]."
            )
        return self._newest.encrypt(secret.encode()).decode()

    def decrypt(self, token: str) -> str:
        """The secret. Raises InvalidEncryptionKey when no key fits the token."""
        try:
            if self._all is not None:
                return self._all.decrypt(token.encode()).decode()
        except InvalidToken:
            pass
        raise InvalidEncryptionKey("It was encrypted with a key that is not in `auth_encryption_key`.")

    def renewed(self, token: str) -> str | None:
        """The same secret under the first key; None when it is so already. Raises as `decrypt`."""
        secret = self.decrypt(token)
        try:
            if self._newest is not None:
                self._newest.decrypt(token.encode())
                return None
        except InvalidToken:
            pass
        return self.encrypt(secret)


def ensure_key(conf: cfg.ConfigOpts, new_key: Callable[[], str]) -> None:
    """Ensure there is a key: without a configured one, the file gets one that its owner alone can read.

    Of several processes at once one wins. For a service that is alone with its database: programs on
    several machines must be given a common key. Raises OSError.
    """
    file = Path(conf.auth_encryption_key_file)
    if conf.auth_encryption_key or file.exists():
        return
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "w") as stream:
            stream.write(new_key() + "\n")
            stream.flush()
            os.fsync(descriptor)
        # A link is refused where there is a file: nobody's key is ever overwritten.
        os.link(temporary, file)
    except FileExistsError:
        return
    finally:
        os.unlink(temporary)


def _derived(key: str) -> bytes:
    counted = key[:KEY_LENGTH].encode()
    if len(counted) != KEY_LENGTH:
        raise InvalidEncryptionKey(
            f"An auth_encryption_key needs {KEY_LENGTH} characters of ASCII; further ones do not count. "
            "Make one with `openssl rand -base64 24`."
        )
    return base64.urlsafe_b64encode(counted)
