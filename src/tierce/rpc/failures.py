"""Errors across the bus: Tierce's on one side, Zun's class names and codes on the other.

A failure travels as JSON text. Zun's API rebuilds the named class from `args` and `kwargs`, which gives
it the HTTP status; it interpolates `args` with `%`, so every `%` in there is doubled. Tierce adds the key
`tierce`, which Zun ignores: the name of its own class, so that between its own processes nothing is lost.
No traceback and no other program's text is sent, and nothing that a message names is ever imported.

Source: reference, RPC 10.
"""

import json
from collections.abc import Collection, Iterator
from types import TracebackType
from typing import Any

from oslo_messaging._drivers import common
from oslo_messaging.rpc import dispatcher
from oslo_versionedobjects import exception as object_exception

from tierce.model import errors
from tierce.model.errors import TierceError

ZUN_MODULE = "zun.common.exception"

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]

_TO_ZUN: dict[type[TierceError], tuple[str, int]] = {
    TierceError: ("ZunException", 500),
    errors.Invalid: ("Invalid", 400),
    errors.InvalidValue: ("InvalidValue", 400),
    errors.InvalidParameterValue: ("InvalidParameterValue", 400),
    errors.InvalidParamInVersion: ("InvalidParamInVersion", 400),
    errors.SchemaInvalid: ("SchemaValidationError", 400),
    errors.ImageNotFound: ("ImageNotFound", 400),
    errors.NoInteractiveFlag: ("NoInteractiveFlag", 400),
    errors.Base64Invalid: ("Base64Exception", 400),
    errors.RuntimeBadRequest: ("Invalid", 400),
    errors.NotAuthorized: ("NotAuthorized", 403),
    errors.PolicyNotAuthorized: ("PolicyNotAuthorized", 403),
    errors.OverQuota: ("OverQuota", 403),
    errors.NotFound: ("NotFound", 404),
    errors.ContainerNotFound: ("ContainerNotFound", 404),
    errors.ComputeNodeNotFound: ("ComputeNodeNotFound", 404),
    errors.RequestedHostNotFound: ("RequestedHostNotFound", 404),
    errors.ServiceNotFound: ("ZunServiceNotFound", 404),
    errors.NetworkNotFound: ("NetworkNotFound", 404),
    errors.PortNotFound: ("PortNotFound", 404),
    errors.VolumeNotFound: ("VolumeNotFound", 404),
    errors.RegistryNotFound: ("RegistryNotFound", 404),
    errors.Conflict: ("Conflict", 409),
    errors.InvalidState: ("InvalidStateException", 409),
    errors.ContainerAlreadyExists: ("ContainerAlreadyExists", 409),
    errors.ImageAlreadyExists: ("ImageAlreadyExists", 409),
    errors.RuntimeConflict: ("Conflict", 409),
    errors.RuntimeNotFound: ("Conflict", 409),
    errors.NoValidHost: ("NoValidHost", 500),
    errors.RuntimeFailure: ("DockerError", 500),
}
"""How each error is named to Zun; a class that is not here goes as its nearest ancestor."""

_WITH_MORE_THAN_A_MESSAGE = frozenset({TierceError, errors.SchemaInvalid, errors.PolicyNotAuthorized})
"""What these know besides their text does not travel: they are received as their nearest relatives."""

_FROM_ZUN: dict[str, type[TierceError]] = {
    name: error for error, (name, _code) in _TO_ZUN.items() if error not in _WITH_MORE_THAN_A_MESSAGE
} | {
    # Named differently, or shared by several of ours above.
    "Invalid": errors.Invalid,
    "Conflict": errors.Conflict,
    "InvalidState": errors.InvalidState,
    "ContainerHostNotUp": errors.ContainerHostNotUp,
    "ResourcesUnavailable": errors.ResourcesUnavailable,
    "OperationNotSupported": errors.OperationNotSupported,
}
_FROM_CODE: dict[str, type[TierceError]] = {
    "400": errors.Invalid,
    "403": errors.NotAuthorized,
    "404": errors.NotFound,
    "409": errors.Conflict,
}
_LIBRARY_ERRORS = (
    dispatcher.RPCDispatcherError,
    object_exception.UnsupportedObjectError,
    object_exception.IncompatibleObjectVersion,
)
"""Errors about the message itself: they go out under their own names, as their texts quote only it."""


def encode(failure: _ExcInfo, *_unused: object) -> str:
    """The failure text for an exception that ended a call.

    An error that is not Tierce's own is a fault of this program, and its text may hold anything: only
    its class is told.
    """
    error = failure[1]
    own: dict[str, str] = {}
    kwargs: dict[str, Any]
    if isinstance(error, _LIBRARY_ERRORS):
        name, module, text = type(error).__name__, type(error).__module__, str(error)
        args, kwargs = [text], getattr(error, "kwargs", {})
    else:
        name, code = "ZunException", 500
        text = f"Unexpected error: {type(error).__name__}"
        if isinstance(error, TierceError):
            name, code = next(_TO_ZUN[cls] for cls in type(error).__mro__ if cls in _TO_ZUN)
            text, own = error.message, {"tierce": type(error).__name__}
        module, args, kwargs = ZUN_MODULE, [text.replace("%", "%%")], {"code": code}
    frame = {"class": name, "module": module, "message": text, "tb": [], "args": args, "kwargs": kwargs}
    return json.dumps(frame | own)


def decode(failure: str | bytes, *_allowed_modules: Collection[str]) -> TierceError:
    """The error that a received failure text stands for: `RemoteFailure` when there is no better one."""
    data = json.loads(failure)
    message = str(data.get("message") or data.get("class"))
    cls = _TIERCE_CLASSES.get(str(data.get("tierce")))
    if cls is None and data.get("module") == ZUN_MODULE:
        kwargs = data.get("kwargs")
        code = kwargs.get("code") if isinstance(kwargs, dict) else None
        cls = _FROM_ZUN.get(str(data.get("class"))) or _FROM_CODE.get(str(code))
    return _with_message(cls or errors.RemoteFailure, message)


def install() -> None:
    """Have the bus library's drivers write and read failures with `encode` and `decode`. Idempotent.

    The library offers no other place: it always sends a traceback, and it rebuilds an error by
    importing the module that the message names, which here would be Zun itself.
    """
    common.serialize_remote_exception = encode
    common.deserialize_remote_exception = decode


def _with_message(cls: type[TierceError], message: str) -> TierceError:
    """An error with a ready-made text: constructors of subclasses take other arguments."""
    error = cls.__new__(cls)
    TierceError.__init__(error, message)
    return error


def _subclasses(cls: type[TierceError]) -> Iterator[type[TierceError]]:
    yield cls
    for child in cls.__subclasses__():
        yield from _subclasses(child)


_TIERCE_CLASSES = {
    cls.__name__: cls for cls in _subclasses(TierceError) if cls not in _WITH_MORE_THAN_A_MESSAGE
}
