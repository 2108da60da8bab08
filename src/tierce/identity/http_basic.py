"""Users with passwords, kept in files, asked for with HTTP Basic: identity without an identity service.

Verifying a bcrypt hash takes a fifth of a second by design, which a request cannot. So a password that
was found right is remembered, as a keyed hash under a key that this process alone has, until the files
change. A wrong one is never remembered: guessing stays as slow as bcrypt makes it.
"""

import base64
import binascii
import hmac
import os
import secrets
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Final

import bcrypt
from oslo_config import cfg

from tierce.identity.accounts import Account, read
from tierce.identity.base import Unauthenticated
from tierce.model.context import RequestContext
from tierce.model.errors import NotAuthorized

CHALLENGE: Final = 'Basic realm="tierce"'

_USUAL_COST: Final = 12
_LONGEST_PASSWORD: Final = 72
"""Bytes that bcrypt looks at; programs that write such files cut there."""

_Stamp = tuple[tuple[int, int, int] | None, ...]


class _Snapshot:
    """The accounts at one state of the files, and the passwords found right since."""

    def __init__(self, stamp: _Stamp, accounts: dict[str, Account]) -> None:
        self.stamp = stamp
        self.accounts = accounts
        self.verified: dict[str, bytes] = {}
        self.dummy_hash = _dummy_hash(accounts)


class HttpBasicIdentity:
    """Both files are looked at with each request, so a change counts at once. Threads may share one."""

    def __init__(self, user_file: Path, project_file: Path) -> None:
        self._files = (user_file, project_file)
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._snapshot = self._read()
        self._running: dict[bytes, Future[bool]] = {}

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "HttpBasicIdentity":
        """The identity of the files that `[api]` names; they may come later."""
        return cls(Path(conf.api.http_basic_auth_user_file), Path(conf.api.http_basic_project_file))

    def authenticate(self, headers: Mapping[str, str]) -> RequestContext:
        """The user that the header `authorization` names and proves.

        Raises Unauthenticated; NotAuthorized for a user without a project. The time taken does not
        tell whether a user exists.
        """
        name, password = _credentials(headers.get("authorization", ""))
        snapshot = self._current()
        if not self._is_right(snapshot, name, password):
            raise Unauthenticated(CHALLENGE)
        account = snapshot.accounts[name]
        if account.project is None or account.role is None:
            raise NotAuthorized(f"User {name} has no project here.")
        return RequestContext(
            user_id=name,
            user_name=name,
            project_id=account.project,
            project_name=account.project,
            roles=account.role.implied,
        )

    def _current(self) -> _Snapshot:
        if self._snapshot.stamp != _stamp(self._files):
            with self._lock:
                if self._snapshot.stamp != _stamp(self._files):
                    self._snapshot = self._read()
        return self._snapshot

    def _read(self) -> _Snapshot:
        # The stamp first: files that change meanwhile are then read again, never missed.
        stamp = _stamp(self._files)
        return _Snapshot(stamp, read(*self._files))

    def _is_right(self, snapshot: _Snapshot, name: str, password: bytes) -> bool:
        account = snapshot.accounts.get(name)
        password_hash = account.password_hash if account else snapshot.dummy_hash
        digest = hmac.digest(self._key, b"\0".join((name.encode(), password_hash, password)), "sha256")
        if hmac.compare_digest(snapshot.verified.get(name, b""), digest):
            return True
        right = self._verify_once(digest, password, password_hash) and account is not None
        if right:
            snapshot.verified[name] = digest
        return right

    def _verify_once(self, digest: bytes, password: bytes, password_hash: bytes) -> bool:
        """Run bcrypt, or wait for the thread that runs it on the same password already."""
        with self._lock:
            running = self._running.get(digest)
            mine: Future[bool] = Future()
            if running is None:
                self._running[digest] = mine
        if running is not None:
            return running.result()
        right = False
        try:
            right = _matches(password, password_hash)
        finally:
            with self._lock:
                del self._running[digest]
            mine.set_result(right)
        return right


def _credentials(header: str) -> tuple[str, bytes]:
    scheme, _, encoded = header.strip().partition(" ")
    try:
        if scheme.lower() != "basic":
            raise Unauthenticated(CHALLENGE)
        name, colon, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
        if not colon:
            raise Unauthenticated(CHALLENGE)
        return name.decode(), password
    except (binascii.Error, ValueError):
        raise Unauthenticated(CHALLENGE) from None


def _matches(password: bytes, password_hash: bytes) -> bool:
    try:
        return bcrypt.checkpw(password[:_LONGEST_PASSWORD], password_hash)
    except ValueError:
        return False


def _dummy_hash(accounts: Mapping[str, Account]) -> bytes:
    """What an unknown user's password is compared with: as costly as the costliest real one."""
    costs = [account.password_hash[4:6] for account in accounts.values()]
    cost = max((int(cost) for cost in costs if cost.isdigit()), default=_USUAL_COST)
    return b"$2b$%02d$%s" % (min(max(cost, 4), 31), b"." * 53)


def _stamp(files: tuple[Path, ...]) -> _Stamp:
    return tuple(_stamp_of(path) for path in files)


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
