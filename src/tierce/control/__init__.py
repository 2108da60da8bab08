"""What the API does, free of HTTP. Policy is checked here, once."""

import dataclasses

from tierce.control.actions import Actions
from tierce.control.containers import Containers
from tierce.control.hosts import Hosts, HostServices
from tierce.control.images import Images
from tierce.control.inspection import Inspection
from tierce.control.lifecycle import Lifecycle
from tierce.control.policy import Policy


@dataclasses.dataclass(frozen=True, slots=True)
class Services:
    """Everything that a front end may ask for."""

    policy: Policy
    containers: Containers
    lifecycle: Lifecycle
    inspection: Inspection
    actions: Actions
    hosts: Hosts
    hosts_services: HostServices
    images: Images
