"""Filters by the names that the configuration has for them."""

import importlib

from oslo_config import cfg

from tierce.model.errors import InvalidValue
from tierce.scheduler.filters import FILTERS, Filter

_PREFIX = "zun.scheduler.filters."
_ALL = f"{_PREFIX}all_filters"


def filters(conf: cfg.ConfigOpts) -> list[Filter]:
    """The filters that are enabled, in order.

    Raises InvalidValue for one that is not available, and for an available one that does not exist.
    """
    available: dict[str, Filter] = {}
    for dotted in conf.scheduler.available_filters:
        available |= FILTERS if dotted == _ALL else _named(dotted)
    unknown = [name for name in conf.scheduler.enabled_filters if name not in available]
    if unknown:
        raise InvalidValue(
            f"[scheduler] enabled_filters names {', '.join(unknown)}; available are {', '.join(available)}"
        )
    return [available[name] for name in conf.scheduler.enabled_filters]


def _named(dotted: str) -> dict[str, Filter]:
    module, _, name = dotted.rpartition(".")
    if dotted.startswith(_PREFIX) and name in FILTERS:
        return {name: FILTERS[name]}
    try:
        return {name: getattr(importlib.import_module(module), name)}
    except (ImportError, AttributeError, ValueError) as exc:
        raise InvalidValue(
            f"[scheduler] available_filters: there is no {dotted} ({exc}). Name a function of a module that "
            f"can be imported, or {_ALL}."
        ) from exc
