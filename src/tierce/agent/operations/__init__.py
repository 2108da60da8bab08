"""What the agent can do to a container: one operation per action name."""

from tierce.agent.operations import power, security_groups
from tierce.agent.operations.attach import NetworkAttach, NetworkDetach
from tierce.agent.operations.base import Operation
from tierce.agent.operations.commit import Commit
from tierce.agent.operations.create import Create
from tierce.agent.operations.delete import Delete
from tierce.agent.operations.rebuild import Rebuild
from tierce.agent.operations.resize import Resize

OPERATIONS: dict[str, Operation] = {
    operation.action: operation
    for operation in (
        Create(),
        Delete(),
        Rebuild(),
        Resize(),
        Commit(),
        power.Start(),
        power.Power("stop", power.stop, power.stopped),
        power.Power("reboot", power.reboot),
        power.Power("pause", power.pause),
        power.Power("unpause", power.unpause),
        power.Power("kill", power.kill),
        NetworkAttach(),
        NetworkDetach(),
        security_groups.SecurityGroup("add_security_group", security_groups.added),
        security_groups.SecurityGroup("remove_security_group", security_groups.removed),
    )
}
