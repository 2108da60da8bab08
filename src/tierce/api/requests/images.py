"""Parameters of pulling an image to a node, and of searching for images."""

import re
from typing import Annotated, Final

from pydantic import PlainValidator, WithJsonSchema

from tierce.api.requests.containers import ImageDriver
from tierce.api.requests.fields import BoolExtended, ImageName, NoneWord, PullPolicy
from tierce.api.requests.schema import Params

_SIZE: Final = "[0-9]+[bkmgBKMG|]?"


def _size(value: object) -> object:
    is_text = isinstance(value, str) and re.fullmatch(_SIZE, value)
    if not is_text and (isinstance(value, bool) or not isinstance(value, int)):
        raise ValueError("It must be an integer, or a string of digits that may end in b, k, m or g.")
    return value


_Size = Annotated[
    object,
    PlainValidator(_size),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": f"^{_SIZE}$"}, {"type": "integer"}]}),
]


class PullImage(Params):
    """The body of `POST /v1/images`. All but `repo` and `host` are accepted and mean nothing."""

    repo: ImageName
    host: ImageName
    image_id: ImageName | None = None
    tag: ImageName | None = None
    size: _Size | None = None
    image_pull_policy: PullPolicy | None = None


class SearchImages(Params):
    """The query string of `GET /v1/images/{name}/search`."""

    image_driver: Annotated[ImageDriver | None, NoneWord] = None
    exact_match: BoolExtended = False
