"""What stands in configuration files and is read by nobody: options of another service, or misspelt ones."""

from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Final

from oslo_config import cfg

_READ: Final = frozenset(
    {
        "tierce",
        "oslo.log",
        "oslo.messaging",
        "oslo.middleware",
        "oslo.middleware.healthcheck",
        "oslo.policy",
        "oslo.versionedobjects",
    }
)
"""Whose options are read, by the names under which they are published for samples."""


def ignored(conf: cfg.ConfigOpts) -> list[str]:
    """Each such option of the files that `conf` was read from, once, as `[group] option`."""
    known = set(_known())
    found: dict[str, None] = {}
    for file in conf.config_file:
        groups: dict[str, dict[str, list[str]]] = {}
        cfg.ConfigParser(file, groups).parse()
        for group, options in groups.items():
            # The library takes groups in any case, all but this one, and options as they are spelt alone.
            read_as = group if group == "DEFAULT" else group.lower()
            for option in options:
                if (read_as, option) not in known:
                    found[f"[{group}] {option}"] = None
    return list(found)


def _known() -> Iterator[tuple[str, str]]:
    """Group and name of every option, with the former ones."""
    for published in entry_points(group="oslo.config.opts"):
        if published.name not in _READ:
            continue
        for group, options in published.load()():
            name = getattr(group, "name", group) or "DEFAULT"
            for option in options:
                yield name, option.dest
                for former in option.deprecated_opts:
                    yield former.group or name, former.name or option.dest
