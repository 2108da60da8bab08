"""Rules of `/v1/images`."""

from tierce.control.policies.base import ADMIN, OWNER, rule

_IMAGES = "/v1/images"
_IMAGE = f"{_IMAGES}/{{ident}}"

RULES = [
    rule("image:pull", ADMIN, "Pull an image to a host.", f"POST {_IMAGES}"),
    rule("image:get_all", ADMIN, "List image records.", f"GET {_IMAGES}"),
    rule("image:get_one", ADMIN, "Show an image record.", f"GET {_IMAGE}"),
    rule("image:delete", ADMIN, "Remove an image from its host.", f"DELETE {_IMAGE}"),
    rule("image:search", OWNER, "Search for images in the public registry.", f"GET {_IMAGE}/search"),
]
