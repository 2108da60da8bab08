"""`create`: image, volumes, networks, the container, and with run its start."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from tierce.agent.operations import images, mounts, networks
from tierce.agent.operations.base import Failure, Stage, Step, Work
from tierce.agent.operations.power import start_stage
from tierce.control import intake
from tierce.db import containers
from tierce.model.container import BindMount, Healthcheck, RestartPolicy, RuntimeSpec
from tierce.model.errors import RuntimeNotFound
from tierce.model.lifecycle import Status
from tierce.model.memory import mebibytes
from tierce.model.numa import pin_of
from tierce.placement import cores


class Create:
    action = "create"
    event = "compute__do_container_create"
    must_succeed = False
    destroys = False

    def stages(self, work: Work) -> Sequence[Stage]:
        if work.attempt > 1:
            # An earlier attempt may have made it: then nothing is pulled or made again.
            work.inspect()
            if work.report is None and work.container.auto_remove and work.container.container_id:
                # It ran to its end, and must not run twice.
                return (Stage(self.event, (), Work.removed_itself),)
        create = Stage(
            self.event,
            (
                *([Step("cpus", _take_cpus)] if cores.lacks(work.container) else []),
                Step("image", _ensure_image),
                Step("volumes", mounts.ensure, mounts.remove),
                Step("networks", networks.ensure_unseen, networks.release),
                Step("container", ensure_container, remove_container),
            ),
            created,
        )
        return (create, start_stage(once=True)) if work.arguments.get("run") else (create,)

    def failure(self, work: Work, reason: str) -> Failure:
        # A container that was made and then would not start stays, to be looked at and started again.
        values: dict[str, Any] = {"status": Status.ERROR, "status_reason": reason}
        undone = work.removed or work.container.container_id is None
        if undone:
            values |= {"container_id": None, "addresses": {}, "cpuset": {}}
        return Failure(values, releases_claim=undone)


def _take_cpus(work: Work) -> None:
    """Of a container that a Zun API process has placed, the node itself chooses the CPUs."""
    plugs, uuid = work.plugs, work.container.uuid

    def take(session: Session) -> dict[str, list[int]]:
        fresh = containers.require(session, uuid)
        cpuset = cores.take(session, fresh, plugs.host)
        containers.swap(session, fresh, plugs.clock.now(), cpuset=cpuset)
        return cpuset

    # The new generation is not taken over: what was accepted meanwhile is noticed at the end of the stage.
    work.container.cpuset = intake.decide(plugs.database, take)


def _ensure_image(work: Work) -> None:
    if work.report is not None:
        return
    work.image = images.ensure(work.plugs, work.container)


def ensure_container(work: Work) -> None:
    """Ensure there is a container; one that `work.report` is about is taken as it is."""
    create = work.plugs.runtime.containers.create
    if work.report:
        work.created_id = work.report.id
        return
    try:
        work.created_id = create(_spec(work))
    except RuntimeNotFound:
        # The runtime says so of whatever it misses. Another program may have removed a network.
        networks.ensure(work)
        work.created_id = create(_spec(work))


def remove_container(work: Work) -> None:
    """Undo `ensure_container`."""
    work.plugs.runtime.containers.remove(work.name)
    work.removed = True


def created(work: Work) -> dict[str, Any]:
    """The columns of a container that was made and, if it is to run, is not started yet."""
    if work.arguments.get("run") and work.report is None:
        # The start that follows looks at everything. Should it fail, what the container has is known.
        return {
            "container_id": work.created_id,
            "status": Status.CREATED,
            "status_detail": "Created",
            "addresses": work.plugs.networks.addresses(work.networks, ()),
        }
    return work.values_from_report(Status.CREATING)


def _spec(work: Work) -> RuntimeSpec:
    container, conf = work.container, work.plugs.conf
    assert work.image is not None  # the image step ran: there is no container yet
    restart = container.restart_policy
    pin = pin_of(container.cpuset, container.memory)
    return RuntimeSpec(
        name=work.name,
        image=work.image.id,
        command=container.command,
        entrypoint=container.entrypoint,
        environment=container.environment,
        labels=container.labels,
        owner_labels=work.plugs.owner_labels,
        workdir=container.workdir,
        hostname=container.hostname,
        tty=bool(container.tty),
        interactive=bool(container.interactive),
        memory=mebibytes(container.memory) or None,
        cpus=container.cpu,
        disk=container.disk or None,
        restart_policy=RestartPolicy(restart["Name"], int(restart.get("MaximumRetryCount") or 0))
        if restart
        else RestartPolicy(),
        auto_remove=bool(container.auto_remove),
        runtime=container.runtime or conf.container_runtime,
        privileged=bool(container.privileged),
        healthcheck=_healthcheck(container.healthcheck),
        exposed_ports=list(container.exposed_ports),
        mounts=[BindMount(source, target) for target, source in work.binds.items()],
        networks=work.attachments,
        cpuset_cpus=pin.cpus if pin else (),
        cpuset_mems=[pin.cell] if pin else (),
    )


def _healthcheck(stored: dict[str, Any]) -> Healthcheck | None:
    if not stored:
        return None
    test = stored.get("test") or None
    return Healthcheck(
        None if test in (None, "none") else str(test),
        int(stored.get("interval") or 0),
        int(stored.get("timeout") or 0),
        int(stored.get("retries") or 0),
    )
