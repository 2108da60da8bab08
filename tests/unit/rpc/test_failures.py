"""Errors on their way over the bus, between Tierce processes and to and from Zun's."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierce.model import errors
from tierce.rpc import failures


def encode(error: Exception) -> dict[str, Any]:
    frame: dict[str, Any] = json.loads(failures.encode((type(error), error, None)))
    return frame


def from_zun(name: str, code: int | None, message: str = "text") -> errors.TierceError:
    kwargs = {} if code is None else {"code": code}
    frame = {"class": name, "module": "zun.common.exception", "message": message, "tb": ["secret.py"]}
    return failures.decode(json.dumps(frame | {"args": [message], "kwargs": kwargs}))


@pytest.mark.parametrize(
    ("error", "name", "code"),
    [
        (errors.Invalid("x"), "Invalid", 400),
        (errors.InvalidValue("x"), "InvalidValue", 400),
        (errors.MalformedBody("x"), "Invalid", 400),
        (errors.PathNotFound("x"), "Invalid", 400),
        (errors.RuntimeBadRequest("x"), "Invalid", 400),
        (errors.ImageNotFound("x"), "ImageNotFound", 400),
        (errors.SchemaInvalid("x"), "SchemaValidationError", 400),
        (errors.PolicyNotAuthorized("rule"), "PolicyNotAuthorized", 403),
        (errors.OverQuota("x"), "OverQuota", 403),
        (errors.ContainerNotFound("c"), "ContainerNotFound", 404),
        (errors.ImageRecordNotFound("i"), "NotFound", 404),
        (errors.ServiceNotFound("h", "b"), "ZunServiceNotFound", 404),
        (errors.InvalidState("x"), "InvalidStateException", 409),
        (errors.ExecTimeout("x"), "Conflict", 409),
        (errors.ContainerHostNotUp("c", "h"), "Conflict", 409),
        (errors.RuntimeConflict("x"), "Conflict", 409),
        (errors.RuntimeNotFound("x"), "Conflict", 409),
        (errors.ImagePullFailed("x"), "DockerError", 500),
        (errors.RuntimeUnreachable("x"), "DockerError", 500),
        (errors.DatabaseBusy("x"), "ZunException", 500),
    ],
)
def test_zun_is_told_a_class_that_it_has_with_its_code(
    error: errors.TierceError, name: str, code: int
) -> None:
    frame = encode(error)

    assert (frame["module"], frame["class"]) == ("zun.common.exception", name)
    assert frame["kwargs"] == {"code": code}
    assert frame["message"] == error.message
    assert frame["tb"] == []


@given(st.text())
def test_zun_rebuilds_the_very_text(text: str) -> None:
    frame = encode(errors.Conflict(text))

    # What Zun's exception classes do with a ready-made message.
    (argument,) = frame["args"]
    assert argument % frame["kwargs"] == text


@pytest.mark.parametrize(
    "error",
    [
        errors.ExecTimeout("x"),
        errors.ContainerHostNotUp("c", "h"),
        errors.RuntimeUnreachable("gone"),
        errors.ImagePullFailed("100% of it"),
        errors.ContainerNotFound("c"),
        errors.StaleObject("x"),
    ],
)
def test_between_tierce_processes_nothing_is_lost(error: errors.TierceError) -> None:
    received = failures.decode(json.dumps(encode(error)))

    assert type(received) is type(error)
    assert (received.message, str(received)) == (error.message, str(error))


def test_an_error_that_knows_more_than_its_text_is_received_as_its_relative() -> None:
    assert type(failures.decode(json.dumps(encode(errors.PolicyNotAuthorized("r"))))) is errors.NotAuthorized
    assert type(failures.decode(json.dumps(encode(errors.SchemaInvalid("m", "f"))))) is errors.Invalid


@pytest.mark.parametrize(
    ("name", "code", "expected"),
    [
        ("Conflict", 409, errors.Conflict),
        ("InvalidStateException", 409, errors.InvalidState),
        ("DockerError", 500, errors.RuntimeFailure),
        ("ContainerHostNotUp", 500, errors.ContainerHostNotUp),
        ("NoValidHost", 500, errors.NoValidHost),
        ("PortInUse", 400, errors.Invalid),
        ("ExternalNetworkAttachForbidden", 403, errors.NotAuthorized),
        ("CapsuleNotFound", 404, errors.NotFound),
        ("VolumeAlreadyExists", 409, errors.Conflict),
        ("ANewerOne", 409, errors.Conflict),
        ("ZunException", 500, errors.RemoteFailure),
        ("ANewerOne", None, errors.RemoteFailure),
    ],
)
def test_a_failure_of_zun_keeps_its_status(
    name: str, code: int | None, expected: type[errors.TierceError]
) -> None:
    error = from_zun(name, code, "Disk 100% full")

    assert type(error) is expected
    assert str(error) == "Disk 100% full"


def test_other_modules_are_neither_imported_nor_believed() -> None:
    frame = {"class": "Conflict", "module": "os", "message": "m", "args": [], "kwargs": {"code": 409}}

    assert type(failures.decode(json.dumps(frame))) is errors.RemoteFailure


def test_a_fault_tells_its_class_and_no_text() -> None:
    frame = encode(ValueError("password=hunter2"))

    assert frame["class"] == "ZunException"
    assert frame["kwargs"] == {"code": 500}
    assert frame["message"] == "Unexpected error: ValueError"
    assert "hunter2" not in json.dumps(frame)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


_KEYS = ("class", "module", "message", "args", "kwargs", "tierce")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(_KEYS, _JSON)))
def test_any_object_is_some_error(frame: dict[str, Any]) -> None:
    assert isinstance(failures.decode(json.dumps(frame)), errors.TierceError)
    zun = frame | {"module": "zun.common.exception"}
    assert isinstance(failures.decode(json.dumps(zun)), errors.TierceError)
