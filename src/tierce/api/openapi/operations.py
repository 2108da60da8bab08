"""Every operation of the API: what it takes, what it answers, which errors it may end in."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from tierce.api.http import Responder, versions_of
from tierce.api.openapi.inputs import Input, in_query
from tierce.api.requests.schema import Params
from tierce.api.versions import Version
from tierce.api.views.shapes import NULL, Shape
from tierce.model import errors
from tierce.model.errors import TierceError

Errors = tuple[type[TierceError], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path.

    `answer` may depend on the microversion; None is an answer without a body. `filters` are parameters
    of the query string that have no model. `errors` are those beyond what `problems` adds.
    """

    method: str
    path: str
    responder: Responder
    summary: str
    status: int = 200
    answer: Shape | Callable[[Version], Shape] | None = dataclasses.field(default_factory=lambda: NULL)
    inputs: tuple[Input, ...] = ()
    filters: Mapping[str, Shape] = dataclasses.field(default_factory=dict)
    errors: Errors = ()
    located: bool = False
    public: bool = False

    @property
    def name(self) -> str:
        """Unique: the responder's, as its class and method."""
        kind, _, method = self.responder.__qualname__.partition(".")
        return f"{kind}_{method.removeprefix('on_')}"

    def is_there_at(self, version: Version) -> bool:
        first, last = versions_of(self.responder)
        return first <= version <= last

    def shape(self, version: Version) -> Shape | None:
        """What it answers at that version."""
        return self.answer(version) if callable(self.answer) else self.answer

    def parameters(self, version: Version) -> list[dict[str, Any]]:
        """The parameters of its query string."""
        found = [parameter for each in self.inputs for parameter in each.parameters(version)]
        return found + [in_query(name, shape) for name, shape in self.filters.items()]

    @property
    def problems(self) -> Errors:
        """The domain errors it may end in."""
        common = (
            () if self.public else (errors.NotAuthorized, errors.PolicyNotAuthorized, errors.DatabaseBusy)
        )
        takes = self.inputs or self.filters
        of_inputs = (errors.SchemaInvalid, errors.InvalidValue) if takes else ()
        of_bodies = (errors.MalformedBody, errors.InvalidParamInVersion)
        has_body = any(each.in_body for each in self.inputs)
        return (*common, *of_inputs, *(of_bodies if has_body else ()), *self.errors)

    @property
    def framework(self) -> tuple[int, ...]:
        """The statuses of HTTP's own errors that it may end in, beyond those of every operation."""
        declared = any(each.declared for each in self.inputs)
        return (400, *((404,) if "{" in self.path else ()), *((415,) if declared else ()))


def query(model: type[Params]) -> tuple[Input, ...]:
    return (Input(model, in_query=True),)


def body(model: type[Params], *, declared: bool = False, wrapped: str | None = None) -> tuple[Input, ...]:
    return (Input(model, in_body=True, declared=declared, wrapped=wrapped),)


def either(model: type[Params]) -> tuple[Input, ...]:
    """In the query string or in the body: clients do both."""
    return (Input(model, in_query=True, in_body=True),)
