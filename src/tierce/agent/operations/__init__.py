"""What the agent can do to a container: one operation per action name."""

from tierce.agent.operations import power
from tierce.agent.operations.base import Operation
from tierce.agent.operations.create import Create
from tierce.agent.operations.delete import Delete

OPERATIONS: dict[str, Operation] = {
    operation.action: operation
    for operation in (
        Create(),
        Delete(),
        power.Start(),
        power.Power("stop", power.stop),
        power.Power("reboot", power.reboot),
        power.Power("pause", power.pause),
        power.Power("unpause", power.unpause),
        power.Power("kill", power.kill),
    )
}
