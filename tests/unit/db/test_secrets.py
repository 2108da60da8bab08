"""Passwords at rest: the format of the tokens, the order of the keys, and the file that has them."""

import base64
import logging
import stat
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from hypothesis import given
from hypothesis import strategies as st
from oslo_config import cfg

from tierce import config
from tierce.db.secrets import MAX_SECRET, Keyring, ensure_key
from tierce.model.errors import InvalidEncryptionKey

OLD = "the key of last year, 32 letters"
NEW = "the key of this year: 32 letters"
PUBLISHED = "notgood but just long enough i t"


def as_the_reference_does(key: str, secret: str) -> str:
    return Fernet(base64.b64encode(key[:32].encode())).encrypt(secret.encode()).decode()


@given(st.text(min_size=1).filter(lambda text: len(text.encode()) <= MAX_SECRET))
def test_a_password_within_the_limit_comes_back_and_fits_its_column(secret: str) -> None:
    token = Keyring([NEW]).encrypt(secret)
    assert len(token) <= 255
    assert Keyring([NEW]).decrypt(token) == secret


def test_a_password_just_over_the_limit_would_not_fit() -> None:
    assert len(Keyring([NEW]).encrypt("x" * (MAX_SECRET + 1))) > 255


@pytest.mark.parametrize("key", [OLD, OLD + " and more, which does not count"])
def test_tokens_are_those_of_the_reference(key: str) -> None:
    assert Keyring([key]).decrypt(as_the_reference_does(key, "hunter2")) == "hunter2"
    ours = Keyring([key]).encrypt("hunter2").encode()
    assert Fernet(base64.b64encode(OLD.encode())).decrypt(ours) == b"hunter2"


def test_a_token_of_the_published_default_can_be_read_but_none_is_written() -> None:
    token = as_the_reference_does(PUBLISHED, "hunter2")
    ring = Keyring([NEW, PUBLISHED])
    assert ring.decrypt(token) == "hunter2"
    assert Keyring([NEW]).decrypt(ring.encrypt("hunter2")) == "hunter2"


@pytest.mark.parametrize("keys", [[PUBLISHED], [PUBLISHED + "x"], [PUBLISHED, NEW]])
def test_the_published_default_may_not_come_first(keys: list[str]) -> None:
    with pytest.raises(InvalidEncryptionKey, match="published"):
        Keyring(keys)


@pytest.mark.parametrize("keys", [[""], ["x" * 31], [NEW, "short"], ["é" * 32]])
def test_a_key_must_have_32_bytes_and_an_error_does_not_repeat_it(keys: list[str]) -> None:
    with pytest.raises(InvalidEncryptionKey) as refusal:
        Keyring(keys)
    assert "32 characters" in refusal.value.message
    assert not keys[-1] or keys[-1] not in refusal.value.message


def test_the_first_key_encrypts_and_all_decrypt() -> None:
    both = Keyring([NEW, OLD])
    assert both.decrypt(Keyring([OLD]).encrypt("hunter2")) == "hunter2"
    assert Keyring([NEW]).decrypt(both.encrypt("hunter2")) == "hunter2"


def test_a_token_under_an_old_key_is_renewed_and_one_under_the_first_is_not() -> None:
    both = Keyring([NEW, OLD])
    renewed = both.renewed(Keyring([OLD]).encrypt("hunter2"))
    assert renewed is not None
    assert Keyring([NEW]).decrypt(renewed) == "hunter2"
    assert both.renewed(renewed) is None


@pytest.mark.parametrize("token", ["", "hunter2", "\u00e9", as_the_reference_does(OLD, "hunter2")])
def test_what_no_key_fits_is_an_error_that_shows_nothing_of_it(token: str) -> None:
    for ring in (Keyring([NEW]), Keyring([])):
        with pytest.raises(InvalidEncryptionKey) as refusal:
            ring.decrypt(token)
        assert not token or token not in refusal.value.message


def test_without_any_key_nothing_is_encrypted() -> None:
    with pytest.raises(InvalidEncryptionKey, match="auth_encryption_key"):
        Keyring([]).encrypt("hunter2")


# --- where keys come from ----------------------------------------------------------------------------


def loaded(home: Path, *keys: str) -> cfg.ConfigOpts:
    file = home / "tierce.conf"
    lines = [f"auth_encryption_key = {key}" for key in keys]
    file.write_text("\n".join(["[DEFAULT]", f"state_path = {home}", *lines]))
    return config.load([str(file)])


def test_keys_of_the_configuration_are_in_its_order(tmp_path: Path) -> None:
    ring = Keyring.from_conf(loaded(tmp_path, NEW, OLD))
    assert Keyring([NEW]).decrypt(ring.encrypt("hunter2")) == "hunter2"
    assert ring.decrypt(Keyring([OLD]).encrypt("hunter2")) == "hunter2"


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    conf = loaded(tmp_path)
    ensure_key(conf, lambda: NEW)
    ensure_key(conf, lambda: OLD)
    (file,) = set(tmp_path.iterdir()) - {tmp_path / "tierce.conf"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text() == f"{NEW}\n"
    assert Keyring.from_conf(conf).decrypt(Keyring([NEW]).encrypt("hunter2")) == "hunter2"


def test_a_file_may_have_several_keys_of_which_the_first_encrypts(tmp_path: Path) -> None:
    conf = loaded(tmp_path)
    (tmp_path / "auth_encryption_key").write_text(f"{NEW}\n\n{OLD}\n")
    ring = Keyring.from_conf(conf)
    assert ring.decrypt(Keyring([OLD]).encrypt("hunter2")) == "hunter2"
    assert Keyring([NEW]).decrypt(ring.encrypt("hunter2")) == "hunter2"


def test_no_file_is_made_or_read_where_a_key_is_configured(tmp_path: Path) -> None:
    conf = loaded(tmp_path, NEW)
    ensure_key(conf, lambda: OLD)
    assert [each.name for each in tmp_path.iterdir()] == ["tierce.conf"]
    (tmp_path / "auth_encryption_key").write_text("short\n")
    Keyring.from_conf(conf)


def test_the_configuration_does_not_show_the_key(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    conf = loaded(tmp_path, NEW)
    with caplog.at_level(logging.DEBUG):
        conf.log_opt_values(logging.getLogger("options"), logging.DEBUG)
    assert "auth_encryption_key" in caplog.text
    assert NEW not in caplog.text
