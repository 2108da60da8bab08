"""Make the database and the runtime agree: one container after an event, all of them at start and
every few minutes.

The runtime decides what a container's state is; the database decides whether it may exist. Nothing
is removed that carries neither this node's own label nor the name of a container of this node.
"""

import logging
from collections.abc import Callable
from typing import Any

from sqlalchemy.orm import Session

from tierce.agent.adoption import resume_delete
from tierce.agent.healing import heal
from tierce.agent.operations.base import NAME_PREFIX, Plugs, report_values, runtime_name
from tierce.db import actions, containers, networks, volumes
from tierce.db.tables import Container
from tierce.model.container import ContainerReport
from tierce.model.context import service_context
from tierce.model.errors import ContainerNotFound, StaleObject, TierceError
from tierce.model.lifecycle import TRANSIENT, Status, TaskState
from tierce.model.observation import RESTARTING, observe

LOG = logging.getLogger(__name__)


class Reconciler:
    def __init__(self, plugs: Plugs, wake: Callable[[str], None], look: Callable[[str], None]) -> None:
        """`wake` runs a container's queued actions; `look` has `refresh` called in its turn."""
        self._plugs = plugs
        self._wake = wake
        self._look = look

    # --- one container --------------------------------------------------------------------------

    def refresh(self, uuid: str) -> None:
        """Bring a container's row up to date with the runtime. Called in the container's own turn."""
        self._bring_up_to_date(uuid, own_turn=True)

    def refresh_now(self, uuid: str) -> None:
        """As `refresh`, from any thread; what is left over is removed later, in the container's own turn."""
        self._bring_up_to_date(uuid, own_turn=False)

    def _bring_up_to_date(self, uuid: str, *, own_turn: bool) -> None:
        container = self._plugs.database.read(lambda session: self._idle_container(session, uuid))
        if container is None:
            return
        if container.status == Status.DELETING and self._plugs.database.write(
            lambda session: resume_delete(session, self._plugs, container)
        ):
            self._wake(uuid)
            return
        report = self._plugs.runtime.containers.inspect(runtime_name(uuid))
        if report is not None and container.container_id is None:
            if not own_turn:
                # An action that was accepted since may just have made it.
                self._look(uuid)
                return
            # Made late, by a call that its creation had given up: the claim is not held any more.
            self._remove_leftover(report.name)
            report = None
        if report is None:
            self._missing(container)
        else:
            self._write(container, self._differences(container, report))

    def _idle_container(self, session: Session, uuid: str) -> Container | None:
        """The container, unless an action of its own is about to decide its state."""
        container = containers.find(session, uuid)
        if container is None or container.host != self._plugs.host:
            return None
        return None if actions.unfinished(session, [uuid]) else container

    def _differences(self, container: Container, report: ContainerReport) -> dict[str, Any]:
        values = report_values(container, report, container.status)
        values["addresses"] = self._plugs.networks.addresses(list(container.addresses), report.endpoints)
        if container.task_state is not None:
            # No action is left that would clear it.
            values["task_state"] = None
        if container.status_reason and (values["status"] == container.status or _is_left_between(container)):
            # Why the last action failed stays readable until something changes; that what it left in between
            # has settled is no change.
            del values["status_reason"]
        return {field: value for field, value in values.items() if getattr(container, field) != value}

    def _missing(self, container: Container) -> None:
        """The runtime does not have it: its creation failed, it removed itself, or somebody removed it."""
        if container.auto_remove and container.container_id is not None:
            self._remove_row(container)
        elif container.status in TRANSIENT:
            self._write(
                container,
                {
                    "status": Status.ERROR,
                    # Why the last action failed says more, if it could be written.
                    "status_reason": container.status_reason
                    or f"{container.status} was interrupted, and nobody finished it.",
                    "task_state": None,
                },
            )
        elif self._heal(container):
            self._wake(container.uuid)
        elif container.container_id is not None and container.status != Status.ERROR:
            reason = f"No such container: {container.container_id} in {self._plugs.runtime.name}"
            self._write(container, {"status": Status.ERROR, "status_reason": reason, "task_state": None})
        elif container.task_state is not None:
            # A Zun agent, whose node this was, ended in the middle of an action.
            self._write(container, {"task_state": None})

    def _heal(self, container: Container) -> bool:
        """Whether a rebuild is queued that brings it back; or somebody else has changed it meanwhile."""
        try:
            healed = self._plugs.database.write(lambda session: heal(session, self._plugs, container))
        except StaleObject:
            self._look(container.uuid)
            return True
        if healed:
            LOG.warning("%s has lost container %s: it is made anew", self._plugs.runtime.name, container.uuid)
        return healed

    def _remove_row(self, container: Container) -> None:
        """It removed itself when it ended: the rest goes by an ordinary delete."""
        now = self._plugs.clock.now()

        def write(session: Session) -> None:
            containers.swap(session, container, now, status=Status.DELETED, task_state=TaskState.DELETING)
            actions.enqueue(
                session,
                service_context(),
                action="delete",
                container_uuid=container.uuid,
                host=self._plugs.host,
                arguments={"force": False, "stop_timeout": None},
                now=now,
            )

        self._unless_changed(container, write)
        self._wake(container.uuid)

    def _write(self, container: Container, values: dict[str, Any]) -> None:
        if not values:
            return
        now = self._plugs.clock.now()
        LOG.info("Container %s: %s", container.uuid, ", ".join(f"{k}={v}" for k, v in values.items()))
        self._unless_changed(container, lambda session: containers.swap(session, container, now, **values))

    def _unless_changed(self, container: Container, write: Callable[[Session], object]) -> None:
        """Commit what was decided of the container, or look again when somebody has changed it since."""
        try:
            self._plugs.database.write(write)
        except StaleObject:
            self._look(container.uuid)
        except ContainerNotFound:
            LOG.info("Container %s is gone", container.uuid)

    # --- all of them ----------------------------------------------------------------------------

    def compare_all(self) -> None:
        """Compare every container of the node, and remove what belongs to none.

        Raises RuntimeUnreachable when the runtime does not answer; nothing is changed then. What cannot be
        removed is left for the next time.
        """
        projects = self._compare_containers()
        self._tried("networks", lambda: self._plugs.networks.sweep(projects))
        self._tried("volumes", self._sweep_volumes)
        self._tried("claims", self._release_claims)

    def _compare_containers(self) -> set[str]:
        """The projects that may have something on the node."""
        plugs = self._plugs
        # The runtime first: what is accepted while we look has a row by the time the rows are read.
        reports = {report.name: report for report in plugs.runtime.containers.list(plugs.owner_labels)}
        rows, busy, projects = plugs.database.read(self._node_state)
        for name in reports.keys() - rows.keys():
            self._remove_leftover(name)
        for name, container in rows.items():
            if container.uuid in busy:
                self._wake(container.uuid)
            elif self._looks_different(container, reports.get(name)):
                self._look(container.uuid)
        return projects

    def _tried(self, what: str, remove: Callable[[], None]) -> None:
        """Remove such leftovers; that it fails keeps no other from being removed."""
        try:
            remove()
        except Exception as exc:
            expected = isinstance(exc, TierceError)
            LOG.warning("Leftover %s are left for the next comparison: %s", what, exc, exc_info=not expected)

    def _sweep_volumes(self) -> None:
        plugs = self._plugs
        plugs.volumes.sweep(plugs.owner_labels, lambda: plugs.database.read(volumes.uuids))

    def _release_claims(self) -> None:
        plugs = self._plugs
        released = plugs.database.write(lambda session: plugs.placement.audit(session, plugs.host))
        if released:
            LOG.warning("Released %d claims of containers that do not exist", released)

    def _node_state(self, session: Session) -> tuple[dict[str, Container], set[str], set[str]]:
        found = {runtime_name(row.uuid): row for row in containers.on_host(session, self._plugs.host)}
        busy = set(actions.unfinished(session, [row.uuid for row in found.values()]))
        host = self._plugs.host
        projects = containers.projects_on_host(session, host) | networks.projects_on_host(session, host)
        return found, busy, projects

    def _looks_different(self, container: Container, report: ContainerReport | None) -> bool:
        """Whether a listed report, which has little more than the state, calls for a closer look."""
        if report is None or container.container_id is None:
            return True
        if container.task_state is not None or container.status in TRANSIENT:
            return True
        return observe(report, container.status).status not in (None, container.status)

    def _remove_leftover(self, name: str) -> None:
        if not name.startswith(NAME_PREFIX):
            return
        LOG.warning("Removing %s, which no container of the database stands for", name)
        try:
            self._plugs.runtime.containers.remove(name)
        except TierceError as exc:
            LOG.warning("%s could not be removed, left for the next comparison: %s", name, exc)


def _is_left_between(container: Container) -> bool:
    """Whether its status is that of an action which nobody finishes, and not what the runtime said of it."""
    return container.status in TRANSIENT and container.status_detail != RESTARTING
