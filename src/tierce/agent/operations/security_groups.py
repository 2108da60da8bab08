"""`add_security_group` and `remove_security_group`: what may reach a container's ports."""

from collections.abc import Callable, Sequence

from tierce.agent.operations.base import Failure, Stage, Step, Work


class SecurityGroup:
    """`change` makes the container's groups, by their ids, from what they are and the action's own."""

    must_succeed = False
    destroys = False

    def __init__(self, action: str, change: Callable[[list[str], str], list[str]]) -> None:
        self.action = action
        self.event = f"compute__{action}"
        self._change = change

    def stages(self, work: Work) -> Sequence[Stage]:
        before = list(work.container.security_groups)
        after = self._change(before, work.arguments["security_group"])

        def secure(groups: list[str]) -> Callable[[Work], None]:
            return lambda work: work.plugs.networks.secure(work.container.uuid, work.networks, groups)

        step = Step("ports", secure(after), secure(before))
        return (Stage(self.event, (step,), lambda _: {"security_groups": after}),)

    def failure(self, work: Work, reason: str) -> Failure:
        return Failure({"status_reason": reason})


def added(groups: list[str], group: str) -> list[str]:
    return list(dict.fromkeys([*groups, group]))


def removed(groups: list[str], group: str) -> list[str]:
    return [each for each in groups if each != group]
