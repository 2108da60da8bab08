"""Parameters of copying files. Others were always ignored here."""

from typing import Annotated

from pydantic import StringConstraints

from tierce.api.requests.schema import Params

Path = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=4096)]
"""A path in a container; the kernel takes none that is longer."""


class GetArchive(Params):
    path: Path


class PutArchive(Params):
    path: Path
    data: Annotated[str, StringConstraints(strict=True)]
