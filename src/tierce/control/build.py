"""The control layer wired together, for whichever program serves it."""

import random

from oslo_config import cfg

from tierce.control import Services
from tierce.control.actions import Actions
from tierce.control.archives import Archives
from tierce.control.claiming import Claiming
from tierce.control.container_networks import ContainerNetworks
from tierce.control.containers import Containers
from tierce.control.creation import Creation
from tierce.control.hosts import Hosts
from tierce.control.image_validation import ImageValidation
from tierce.control.images import Images
from tierce.control.inspection import Inspection
from tierce.control.intake import Intake
from tierce.control.lifecycle import Lifecycle
from tierce.control.liveness import Liveness
from tierce.control.messages import Messages
from tierce.control.networks import Networks
from tierce.control.node_calls import NodeCalls
from tierce.control.places import Places
from tierce.control.policy import Policy
from tierce.control.quotas import ProjectQuotas, QuotaClasses, Quotas
from tierce.control.registries import Registries
from tierce.control.remaking import Remaking
from tierce.control.resizing import Resizing
from tierce.control.services import AvailabilityZones, HostServices
from tierce.control.terminals import Terminals
from tierce.db.engine import Database
from tierce.db.secrets import Keyring
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
    """Raises InvalidValue for a configuration that names what does not exist, InvalidEncryptionKey."""
    policy = Policy(conf, clock)
    liveness = Liveness(conf, clock)
    messages = Messages(compute)
    places = Places(conf.api.threads // 2)
    calls = NodeCalls(database, policy, liveness, places)
    quotas = Quotas(conf)
    intake = Intake(database, policy, liveness, clock)
    scheduler = Scheduler(conf, placement, rng)
    resizing = Resizing(conf, database, intake, policy, quotas, placement, compute, messages, clock, places)
    images = ImageValidation(conf, database, liveness, compute, places)
    claiming = Claiming(conf, quotas, placement)
    creation = Creation(
        conf, database, policy, quotas, scheduler, claiming, networks, messages, images, clock, rng
    )
    return Services(
        policy=policy,
        containers=Containers(conf, database, intake, policy, liveness, creation, clock),
        lifecycle=Lifecycle(intake, policy, liveness, placement, messages),
        resizing=resizing,
        remaking=Remaking(intake, quotas, placement, messages),
        inspection=Inspection(calls, compute),
        terminals=Terminals(conf, calls, compute),
        archives=Archives(conf, calls, compute),
        container_networks=ContainerNetworks(intake, database, policy, networks, messages),
        networks=Networks(database, policy, liveness, networks, compute, places),
        actions=Actions(database, policy),
        hosts=Hosts(database, policy),
        host_services=HostServices(conf, database, policy, liveness),
        images=Images(conf, database, policy, liveness, compute, clock, places),
        registries=Registries(database, policy, Keyring.from_conf(conf), clock),
        zones=AvailabilityZones(conf, database, policy),
        quotas=ProjectQuotas(quotas, database, policy, clock),
        quota_classes=QuotaClasses(quotas, database, policy, clock),
    )
