"""Parameters of pulling an image to a node, and of searching for images."""

from typing import Annotated

from pydantic import StrictInt, StringConstraints

from tierce.api.requests.containers import ImageDriver
from tierce.api.requests.fields import BoolExtended, ImageName, NoneWord, PullPolicy
from tierce.api.requests.schema import Params

_SIZE = r"^[0-9]+[bkmgBKMG|]?$"


class PullImage(Params):
    """The body of `POST /v1/images`. All but `repo` and `host` are accepted and mean nothing."""

    repo: ImageName
    host: ImageName
    image_id: ImageName | None = None
    tag: ImageName | None = None
    size: Annotated[str, StringConstraints(strict=True, pattern=_SIZE)] | StrictInt | None = None
    image_pull_policy: PullPolicy | None = None


class SearchImages(Params):
    """The query string of `GET /v1/images/{name}/search`."""

    image_driver: Annotated[ImageDriver | None, NoneWord] = None
    exact_match: BoolExtended = False
