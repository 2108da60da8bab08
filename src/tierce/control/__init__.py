"""What the API does, free of HTTP. Policy is checked here, once."""

import dataclasses

from tierce.control.actions import Actions
from tierce.control.archives import Archives
from tierce.control.container_networks import ContainerNetworks
from tierce.control.containers import Containers
from tierce.control.hosts import Hosts
from tierce.control.images import Images
from tierce.control.inspection import Inspection
from tierce.control.lifecycle import Lifecycle
from tierce.control.networks import Networks
from tierce.control.policy import Policy
from tierce.control.quotas import ProjectQuotas, QuotaClasses
from tierce.control.registries import Registries
from tierce.control.remaking import Remaking
from tierce.control.resizing import Resizing
from tierce.control.services import AvailabilityZones, HostServices
from tierce.control.terminals import Terminals


@dataclasses.dataclass(frozen=True, slots=True)
class Services:
    """Everything that a front end may ask for."""

    policy: Policy
    containers: Containers
    lifecycle: Lifecycle
    resizing: Resizing
    remaking: Remaking
    inspection: Inspection
    container_networks: ContainerNetworks
    networks: Networks
    terminals: Terminals
    archives: Archives
    actions: Actions
    hosts: Hosts
    host_services: HostServices
    zones: AvailabilityZones
    images: Images
    registries: Registries
    quotas: ProjectQuotas
    quota_classes: QuotaClasses
