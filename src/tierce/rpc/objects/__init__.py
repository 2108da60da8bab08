"""The versioned objects of the bus, by their wire names. Importing this registers all of them."""

from tierce.rpc.objects.base import WireObject
from tierce.rpc.objects.container import (
    RELATED,
    Capsule,
    CapsuleContainer,
    CapsuleInitContainer,
    Container,
    Cpuset,
)
from tierce.rpc.objects.pci import ContainerPCIRequest, ContainerPCIRequests, PciDevice
from tierce.rpc.objects.records import ExecInstance, Image, Registry, Volume, VolumeMapping, ZunNetwork

__all__ = [
    "RELATED",
    "Capsule",
    "CapsuleContainer",
    "CapsuleInitContainer",
    "Container",
    "ContainerPCIRequest",
    "ContainerPCIRequests",
    "Cpuset",
    "ExecInstance",
    "Image",
    "PciDevice",
    "Registry",
    "Volume",
    "VolumeMapping",
    "WireObject",
    "ZunNetwork",
]
