"""Options of every group, and the one way to load them."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from oslo_config import cfg
from oslo_log import log

from tierce.config import (
    agent,
    api,
    compute,
    database,
    default,
    docker,
    network,
    quota,
    scheduler,
    upgrade_levels,
    volume,
    websocket_proxy,
)

_MODULES = (
    default,
    api,
    agent,
    compute,
    database,
    docker,
    network,
    quota,
    scheduler,
    upgrade_levels,
    volume,
    websocket_proxy,
)


SEARCHED = ("~/.tierce/tierce.conf", "/etc/tierce/tierce.conf", "/etc/zun/zun.conf")
"""Where the configuration is when nobody names a file: the first one counts."""


def found() -> list[str]:
    """The file of `SEARCHED` that there is, if any."""
    places = [os.path.expanduser(place) for place in SEARCHED]
    return [place for place in places if Path(place).is_file()][:1]


def list_opts() -> Iterable[tuple[str, Sequence[cfg.Opt]]]:
    """Every option by group (the entry point of the sample generator)."""
    return [(module.GROUP, module.OPTIONS) for module in _MODULES]


def load(files: Sequence[str] = (), overrides: Sequence[tuple[str, str, object]] = ()) -> cfg.ConfigOpts:
    """Read configuration files into a fresh object, which is then passed to whoever needs it.

    `overrides` are (group, option, value), and win over the files. Unknown options are ignored, as
    production files hold many; a value of the wrong type, or that refers to no option, raises oslo.config's
    ConfigFileValueError, also of an option that would be read much later.
    """
    conf = cfg.ConfigOpts()
    log.register_options(conf)
    for group, options in list_opts():
        conf.register_opts(options, group=None if group == "DEFAULT" else group)
    try:
        conf(args=[], project="tierce", default_config_files=list(files), default_config_dirs=[])
    except (OSError, UnicodeError) as exc:  # a directory, or no text: the library has no words for these
        raise cfg.ConfigFileParseError(" or ".join(files), str(exc)) from exc
    for group, option, value in overrides:
        conf.set_override(option, value, group=None if group == "DEFAULT" else group)
    for group, options in list_opts():
        for option in options:
            _check(conf, group, option)
    return conf


def _check(conf: cfg.ConfigOpts, group: str, option: cfg.Opt) -> None:
    """The library looks at a value when it is first read, which might be in the middle of a request."""
    try:
        (conf if group == "DEFAULT" else conf[group])[option.dest]
    except cfg.ConfigSourceValueError as exc:
        raise cfg.ConfigFileValueError(f"`[{group}] {option.name}`: {exc}") from exc
    except (cfg.NoSuchOptError, cfg.NoSuchGroupError, cfg.TemplateSubstitutionError):
        # What the library says of it is a part of the value, which may be a password.
        raise cfg.ConfigFileValueError(
            f"`[{group}] {option.name}`: what follows a `$` names no option; write `$$` for a `$` of its own"
        ) from None
