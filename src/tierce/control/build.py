"""The control layer wired together, for whichever program serves it."""

import random

from oslo_config import cfg

from tierce.control import Services
from tierce.control.actions import Actions
from tierce.control.containers import Containers
from tierce.control.creation import Creation
from tierce.control.hosts import Hosts, HostServices
from tierce.control.images import Images
from tierce.control.inspection import Inspection
from tierce.control.lifecycle import Lifecycle
from tierce.control.messages import Messages
from tierce.control.policy import Policy
from tierce.db.engine import Database
from tierce.model.clock import Clock
from tierce.networks.base import NetworkResolver
from tierce.placement.base import Placement
from tierce.rpc.client import ComputeClient
from tierce.scheduler.scheduler import Scheduler


def build_services(
    conf: cfg.ConfigOpts,
    database: Database,
    placement: Placement,
    networks: NetworkResolver,
    compute: ComputeClient,
    clock: Clock,
    rng: random.Random,
) -> Services:
    """Raises InvalidValue for a configuration that names what does not exist."""
    policy = Policy(conf)
    messages = Messages(compute)
    scheduler = Scheduler(conf, placement)
    creation = Creation(conf, database, policy, scheduler, placement, networks, messages, clock, rng)
    return Services(
        policy=policy,
        containers=Containers(conf, database, policy, creation, clock),
        lifecycle=Lifecycle(conf, database, policy, placement, messages, clock),
        inspection=Inspection(conf, database, policy, compute, clock),
        actions=Actions(database, policy),
        hosts=Hosts(database, policy),
        hosts_services=HostServices(conf, database, policy, clock),
        images=Images(conf, database, policy, compute, clock),
    )
