"""SR-IOV devices, and what a container asks of them. Source: reference, RPC 12.3."""

from oslo_versionedobjects import fields

from tierce.rpc.objects.base import WireObject, persistent, register
from tierce.rpc.objects.types import text


@register
class ContainerPCIRequest(WireObject):
    VERSION = "1.0"
    fields = {
        "count": fields.IntegerField(),
        "spec": fields.ListOfDictOfNullableStringsField(),
        "alias_name": text(),
        "is_new": fields.BooleanField(default=False),
        "request_id": text(),
    }


@register
class ContainerPCIRequests(WireObject):
    VERSION = "1.0"
    fields = {
        "container_uuid": text(nullable=False),
        "requests": fields.ListOfObjectsField("ContainerPCIRequest"),
    }


@register
class PciDevice(WireObject):
    VERSION = "1.1"
    fields = persistent(
        id=fields.IntegerField(),
        uuid=text(nullable=False),
        compute_node_uuid=text(),
        address=text(nullable=False),
        vendor_id=text(nullable=False),
        product_id=text(nullable=False),
        dev_type=fields.EnumField(["PCI", "PF", "VF"]),
        status=fields.EnumField(
            ["available", "claimed", "allocated", "removed", "deleted", "unclaimable", "unavailable"]
        ),
        dev_id=text(),
        label=text(),
        container_uuid=text(),
        request_id=text(),
        parent_addr=text(),
        extra_info=fields.DictOfStringsField(),
        numa_node=fields.IntegerField(nullable=True),
    )
