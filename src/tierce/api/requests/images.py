"""Parameters of pulling an image to a node."""

from typing import Annotated

from pydantic import StringConstraints

from tierce.api.requests.fields import ImageName, PullPolicy
from tierce.api.requests.schema import Params

_SIZE = r"^[0-9]+[bkmgBKMG|]?$"


class PullImage(Params):
    """The body of `POST /v1/images`. All but `repo` and `host` are accepted and mean nothing."""

    repo: ImageName
    host: ImageName
    image_id: ImageName | None = None
    tag: ImageName | None = None
    size: Annotated[str, StringConstraints(strict=True, pattern=_SIZE)] | int | None = None
    image_pull_policy: PullPolicy | None = None
