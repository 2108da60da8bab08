"""The version documents, from which clients learn what this service speaks."""

from typing import Any, Final

from tierce.api.versions import MAXIMUM, MINIMUM
from tierce.api.views.links import LINKS
from tierce.api.views.shapes import STRING, Shape, array, record

RESOURCES: Final = (
    "services",
    "containers",
    "images",
    "networks",
    "hosts",
    "capsules",
    "availability_zones",
    "quotas",
    "quota_classes",
    "registries",
)
"""The resources of the protocol's one major version; all are named, as clients expect."""

_VERSION: Final[Shape] = record(
    {"id": STRING, "links": LINKS, "status": STRING, "max_version": STRING, "min_version": STRING}
)
ROOT: Final[Shape] = record(
    {"name": STRING, "description": STRING, "versions": array(_VERSION), "default_version": _VERSION}
)
V1: Final[Shape] = record(
    {
        "id": STRING,
        "media_types": array(record({"base": STRING, "type": STRING})),
        "links": LINKS,
        **dict.fromkeys(RESOURCES, LINKS),
    }
)


def root(host_url: str) -> dict[str, Any]:
    """The document at `/`. The name is the protocol's."""
    version = {
        "id": "v1",
        "links": [{"href": f"{host_url}/v1/", "rel": "self"}],
        "status": "CURRENT",
        "max_version": str(MAXIMUM),
        "min_version": str(MINIMUM),
    }
    return {
        "name": "OpenStack Zun API",
        "description": "Tierce runs containers as a cloud service.",
        "versions": [version],
        "default_version": version,
    }


def v1(host_url: str) -> dict[str, Any]:
    """The document at `/v1`."""
    document: dict[str, Any] = {
        "id": "v1",
        "media_types": [{"base": "application/json", "type": "application/vnd.openstack.zun.v1+json"}],
        "links": [
            {"href": f"{host_url}/v1/", "rel": "self"},
            {
                "href": "https://docs.openstack.org/developer/zun/dev/api-spec-v1.html",
                "rel": "describedby",
                "type": "text/html",
            },
        ],
    }
    for resource in RESOURCES:
        document[resource] = [
            {"href": f"{host_url}/v1/{resource}/", "rel": "self"},
            {"href": f"{host_url}/{resource}/", "rel": "bookmark"},
        ]
    return document
