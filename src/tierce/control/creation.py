"""Accepting a new container: check everything, then write it all in one transaction."""

import dataclasses
import logging
import random
import uuid
from typing import Any

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.control import naming
from tierce.control.claiming import Claiming
from tierce.control.container_networks import require_attachable
from tierce.control.image_validation import ImageValidation
from tierce.control.messages import Messages
from tierce.control.policy import Policy
from tierce.control.quotas import Quotas
from tierce.control.registries import find as find_registry
from tierce.db import actions, containers, nodes, volumes
from tierce.db.engine import Database
from tierce.db.tables import Container, Registry, Volume
from tierce.images.reference import parse
from tierce.model.clock import Clock
from tierce.model.container import RestartPolicy
from tierce.model.context import RequestContext
from tierce.model.errors import (
    ContainerAlreadyExists,
    NotAuthorized,
    NoValidHost,
    RequestedHostNotFound,
)
from tierce.model.lifecycle import Status, TaskState
from tierce.model.spec import ContainerSpec, MountRequest
from tierce.networks.base import NetworkResolver, RequestedNetwork
from tierce.placement import cores
from tierce.placement.base import Resources
from tierce.scheduler.filters import Demand
from tierce.scheduler.scheduler import Scheduler

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class _Order:
    """A request that has passed every check, with what it names."""

    context: RequestContext
    spec: ContainerSpec
    registry: Registry | None
    networks: list[RequestedNetwork]
    run: bool

    def named(self, name: str) -> "_Order":
        return dataclasses.replace(self, spec=dataclasses.replace(self.spec, name=name))


class Creation:
    def __init__(
        self,
        conf: cfg.ConfigOpts,
        database: Database,
        policy: Policy,
        quotas: Quotas,
        scheduler: Scheduler,
        claiming: Claiming,
        networks: NetworkResolver,
        messages: Messages,
        images: ImageValidation,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self._conf = conf
        self._database = database
        self._policy = policy
        self._quotas = quotas
        self._scheduler = scheduler
        self._claiming = claiming
        self._networks = networks
        self._messages = messages
        self._images = images
        self._clock = clock
        self._rng = rng

    def create(self, context: RequestContext, spec: ContainerSpec, run: bool) -> Container:
        """Accept a container; it is Creating when this returns, or Error when no node can take it.

        Nothing is written before every check has passed. Raises PolicyNotAuthorized, Invalid,
        NotFound for what the request refers to, OverQuota, ContainerAlreadyExists.
        """
        self._check_policy(context, spec)
        groups = self._networks.security_groups(context, spec.security_groups)
        spec = dataclasses.replace(spec, security_groups=groups)
        self._check_references(spec)
        registry = self._registry(context, spec)
        self._images.require_found(context, spec)
        requested = self._networks.resolve(context, spec.nets)
        require_attachable(self._policy, context, requested)
        order = _Order(context, spec, registry, requested, run)
        names = naming.candidates(self._rng)
        while True:
            try:
                return self._accept(order.named(spec.name or next(names)))
            except ContainerAlreadyExists:
                if spec.name is not None:  # the user's own choice; another one of ours will do as well
                    raise

    # --- checks ---------------------------------------------------------------------------------

    def _check_policy(self, context: RequestContext, spec: ContainerSpec) -> None:
        self._policy.require(context, "container:create")
        if context.project_id is None:
            raise NotAuthorized("A container belongs to a project, and this identity has none.")
        for asked, rule in (
            (spec.runtime is not None, "runtime"),
            (spec.privileged, "privileged"),
            (spec.image_pull_policy is not None, "image_pull_policy"),
            (spec.host is not None, "requested_destination"),
        ):
            if asked:
                self._policy.require(context, f"container:create:{rule}")

    def _check_references(self, spec: ContainerSpec) -> None:
        if self._image_driver(spec) == "docker":
            parse(spec.image)
        if spec.cpu_policy == "dedicated":
            cores.require_whole(spec.cpu)

    def _registry(self, context: RequestContext, spec: ContainerSpec) -> Registry | None:
        """The registry that the request names, in which its image must be possible."""
        name = spec.registry
        if name is None:
            return None
        registry = self._database.read(lambda session: find_registry(session, context, name))
        if self._image_driver(spec) == "docker":
            parse(spec.image).within(registry.domain)
        return registry

    def _image_driver(self, spec: ContainerSpec) -> str:
        driver: str = spec.image_driver or self._conf.default_image_driver
        return driver

    # --- the row --------------------------------------------------------------------------------

    def _accept(self, order: _Order) -> Container:
        """Write it all, and wake the node. Raises OverQuota, ContainerAlreadyExists."""
        context = order.context
        try:
            container = self._database.write(lambda session: self._insert(session, order))
        except NoValidHost as exc:
            LOG.warning("No node for a container of project %s: %s", context.project_id, exc.message)
            return self._insert_refused(
                order, exc.message if self._policy.knows_nodes(context) else exc.summary
            )
        self._messages.create(context, container, order.networks, order.run)
        return container

    def _build(self, order: _Order) -> Container:
        conf, context, spec, registry = self._conf, order.context, order.spec, order.registry
        now = self._clock.now()
        restart = spec.restart_policy
        memory = conf.default_memory if spec.memory is None else spec.memory
        return Container(
            uuid=str(uuid.uuid4()),
            name=spec.name,
            project_id=context.project_id,
            user_id=context.user_id,
            image=spec.image,
            image_driver=self._image_driver(spec),
            image_pull_policy=spec.image_pull_policy,
            command=list(spec.command or ()),
            entrypoint=list(spec.entrypoint or ()),
            environment=dict(spec.environment),
            labels=dict(spec.labels),
            workdir=spec.workdir,
            hostname=spec.hostname,
            cpu=conf.default_cpu if spec.cpu is None else spec.cpu,
            cpu_policy=spec.cpu_policy,
            cpuset={},
            memory=str(memory),
            disk=spec.disk or 0,
            auto_remove=spec.auto_remove,
            auto_heal=spec.auto_heal,
            interactive=spec.interactive,
            tty=spec.tty,
            restart_policy=_restart_policy(restart) if restart else {},
            security_groups=list(spec.security_groups),
            ports=[],
            addresses={},
            runtime=spec.runtime,
            privileged=spec.privileged,
            healthcheck=_healthcheck(spec),
            exposed_ports={port: {} for port in spec.exposed_ports},
            registry_id=registry.id if registry else None,
            registry_uuid=registry.uuid if registry else None,
            status=Status.CREATING,
            task_state=TaskState.CREATING,
            generation=0,
            created_at=now,
        )

    def _insert(self, session: Session, order: _Order) -> Container:
        """The one transaction: quota, claim, container, mounts and the queued action."""
        container = self._build(order)
        demand = self._demand(session, order.spec, container)
        # Before the project's lock, which others of it wait for: what the look finds is claimed below.
        selection = self._scheduler.select(session, demand, self._clock.now())
        self._reserve_quota(session, container)
        container.host = self._claiming.claim(session, container, demand, selection)
        containers.insert(session, container, self._conf.compute.unique_container_name_scope)
        for mount in order.spec.mounts:
            self._insert_mount(session, container, mount)
        requested = [network.to_wire() for network in order.networks]
        actions.enqueue(
            session,
            order.context,
            action="create",
            container_uuid=container.uuid,
            host=container.host,
            arguments={"run": order.run, "requested_networks": requested},
            now=self._clock.now(),
        )
        return container

    def _insert_refused(self, order: _Order, reason: str) -> Container:
        """No node can take it: the container is there, in Error, and says why."""

        def work(session: Session) -> Container:
            refused = self._build(order)
            refused.status, refused.task_state, refused.status_reason = Status.ERROR, None, reason
            self._reserve_quota(session, refused)
            return containers.insert(session, refused, self._conf.compute.unique_container_name_scope)

        return self._database.write(work)

    def _reserve_quota(self, session: Session, container: Container) -> None:
        wanted: dict[str, float] = {
            "containers": 1,
            "cpu": container.cpu or 0,
            "memory": int(container.memory or 0),
            "disk": container.disk or 0,
        }
        self._quotas.reserve(session, container.project_id or "", wanted)

    def _demand(self, session: Session, spec: ContainerSpec, container: Container) -> Demand:
        """What a node must have for it. Raises RequestedHostNotFound."""
        if spec.host is not None and nodes.by_hostname(session, spec.host) is None:
            raise RequestedHostNotFound(spec.host)
        return Demand(
            availability_zone=spec.availability_zone or self._conf.default_schedule_zone or None,
            runtime=spec.runtime,
            host=spec.host,
            hints=spec.hints,
            asked=Resources.of(container.cpu, container.memory, container.disk),
            dedicated=cores.is_dedicated(container),
        )

    def _insert_mount(self, session: Session, container: Container, mount: MountRequest) -> None:
        owner = {"project_id": container.project_id, "user_id": container.user_id}
        volume = Volume(
            uuid=str(uuid.uuid4()),
            volume_provider=volumes.LOCAL,
            host=container.host,
            auto_remove=mount.source is None,
            contents=mount.contents,
            connection_info=None if mount.source is None else {"data": {"name": mount.source}},
            created_at=container.created_at,
            **owner,
        )
        session.add(volume)
        session.flush()
        mapping = {"container_path": mount.destination, "volume_id": volume.id, **owner}
        volumes.mount(session, container.uuid, [mapping], container.created_at)


def _restart_policy(policy: RestartPolicy) -> dict[str, str]:
    return {"Name": policy.name, "MaximumRetryCount": str(policy.maximum_retry_count)}


def _healthcheck(spec: ContainerSpec) -> dict[str, Any]:
    check = spec.healthcheck
    if check is None:
        return {}
    return {
        "test": check.test if check.test is not None else "none",
        "interval": check.interval,
        "retries": check.retries,
        "timeout": check.timeout,
    }
