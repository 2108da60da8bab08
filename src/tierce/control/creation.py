"""Accepting a new container: check everything, then write it all in one transaction."""

import dataclasses
import itertools
import logging
import random
import uuid
from collections.abc import Sequence
from typing import Any

from oslo_config import cfg
from sqlalchemy.orm import Session

from tierce.control import naming
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
    ResourcesUnavailable,
)
from tierce.model.lifecycle import Status, TaskState
from tierce.model.spec import ContainerSpec, MountRequest
from tierce.networks.base import NetworkResolver, RequestedNetwork
from tierce.placement import cores
from tierce.placement.base import Placement, Resources
from tierce.scheduler.filters import Demand, Node
from tierce.scheduler.scheduler import Scheduler, Selection

LOG = logging.getLogger(__name__)


class Creation:
    def __init__(
        self,
        conf: cfg.ConfigOpts,
        database: Database,
        policy: Policy,
        scheduler: Scheduler,
        placement: Placement,
        networks: NetworkResolver,
        messages: Messages,
        images: ImageValidation,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self._conf = conf
        self._database = database
        self._policy = policy
        self._scheduler = scheduler
        self._placement = placement
        self._networks = networks
        self._messages = messages
        self._images = images
        self._clock = clock
        self._rng = rng
        self._quotas = Quotas(conf)

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
        names = naming.candidates(self._rng)
        while True:
            named = dataclasses.replace(spec, name=spec.name or next(names))
            try:
                return self._accept(context, named, registry, requested, run)
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

    def _accept(
        self,
        context: RequestContext,
        spec: ContainerSpec,
        registry: Registry | None,
        requested: list[RequestedNetwork],
        run: bool,
    ) -> Container:
        """Write it all, and wake the node. Raises OverQuota, ContainerAlreadyExists."""
        try:
            container = self._database.write(
                lambda session: self._insert(session, context, spec, registry, requested, run)
            )
        except NoValidHost as exc:
            LOG.warning("No node for a container of project %s: %s", context.project_id, exc.message)
            reason = exc.message if self._policy.knows_nodes(context) else exc.summary
            return self._insert_refused(context, spec, registry, reason)
        self._messages.create(context, container, requested, run)
        return container

    def _build(self, context: RequestContext, spec: ContainerSpec, registry: Registry | None) -> Container:
        conf = self._conf
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

    def _insert(
        self,
        session: Session,
        context: RequestContext,
        spec: ContainerSpec,
        registry: Registry | None,
        requested: list[RequestedNetwork],
        run: bool,
    ) -> Container:
        """The one transaction: quota, claim, container, mounts and the queued action."""
        container = self._build(context, spec, registry)
        demand = self._demand(session, spec, container)
        # Before the project's lock, which others of it wait for: what the look finds is claimed below.
        selection = self._scheduler.select(session, demand, self._clock.now())
        self._reserve_quota(session, container)
        container.host = self._claim(session, container, demand, selection)
        containers.insert(session, container, self._conf.compute.unique_container_name_scope)
        for mount in spec.mounts:
            self._insert_mount(session, container, mount)
        actions.enqueue(
            session,
            context,
            action="create",
            container_uuid=container.uuid,
            host=container.host,
            arguments={"run": run, "requested_networks": [network.to_wire() for network in requested]},
            now=self._clock.now(),
        )
        return container

    def _insert_refused(
        self, context: RequestContext, spec: ContainerSpec, registry: Registry | None, reason: str
    ) -> Container:
        """No node can take it: the container is there, in Error, and says why."""

        def work(session: Session) -> Container:
            refused = self._build(context, spec, registry)
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

    def _claim(self, session: Session, container: Container, demand: Demand, selection: Selection) -> str:
        """Take what the container needs from the best node that still has it. Raises NoValidHost."""
        for _, alike in itertools.groupby(selection.nodes, lambda node: node.runtime_away):
            host = self._claim_of_any(session, container, list(alike), demand, selection)
            if host is not None:
                return host
        raise selection.no_valid_host()

    def _claim_of_any(
        self,
        session: Session,
        container: Container,
        alike: Sequence[Node],
        demand: Demand,
        selection: Selection,
    ) -> str | None:
        """Take it of the first of these nodes that has it; None when none does.

        One that somebody else is taking from is waited for only when no other has it: all who create at
        the same moment find the same node to be the best.
        """
        busy: list[Node] = []
        for wait, tried in ((False, alike), (True, busy)):
            for node in tried:
                try:
                    if self._claim_of(session, container, node, demand, wait=wait):
                        return node.host
                    busy.append(node)
                except ResourcesUnavailable as exc:
                    selection.filled_up(node, exc)
        return None

    def _claim_of(
        self, session: Session, container: Container, node: Node, demand: Demand, *, wait: bool
    ) -> bool:
        """Take it of this node. As `Placement.claim`; nothing is taken when it raises."""
        # GiB; 0 is no limit, or none possible.
        limit = container.disk or (self._conf.default_disk if node.limits_disk else 0)
        cpuset = cores.take(session, container, node.host) if demand.dedicated else {}
        asked = dataclasses.replace(demand.asked, disk_gb=limit)
        if not self._placement.claim(session, container.uuid, node.host, asked, wait=wait):
            return False
        container.cpuset = cpuset
        if limit != container.disk:
            self._quotas.reserve(session, container.project_id or "", {"disk": limit})
            container.disk = limit
        return True

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
