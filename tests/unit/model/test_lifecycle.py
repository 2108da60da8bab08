"""The life cycle as data: what it refuses and in which words, and what it calls broken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierce.model.errors import InvalidState
from tierce.model.lifecycle import (
    ACCEPTANCE,
    ALLOWED,
    SETTLED,
    TRANSIENT,
    Status,
    TaskState,
    check,
    require_allowed,
)

ACTIONS = st.sampled_from(sorted(ALLOWED))
STATUSES = st.sampled_from(Status)
TASKS = st.none() | st.sampled_from(TaskState)
UUID = "7c1e0f6e-54b7-4f7e-9b8e-7d8d1f5e0c22"


def refusal(action: str, status: str | None, task: str | None) -> str | None:
    try:
        require_allowed(action, UUID, status, task)
    except InvalidState as error:
        return error.message
    return None


@given(ACTIONS, STATUSES, TASKS)
def test_a_state_outside_the_table_is_refused_whatever_holds_the_container(
    action: str, status: Status, task: TaskState | None
) -> None:
    if status not in ALLOWED[action]:
        assert refusal(action, status, task) == f"Cannot {action} container {UUID} in {status} state"


@given(ACTIONS, STATUSES, TASKS)
def test_a_state_in_the_table_is_refused_only_to_what_must_wait_for_another_action(
    action: str, status: Status, task: TaskState | None
) -> None:
    if status in ALLOWED[action]:
        waits = action in ACCEPTANCE and not ACCEPTANCE[action].interrupts and task is not None
        assert refusal(action, status, task) == (
            f"Cannot {action} container {UUID} in {status} state while {task} is in progress"
            if waits
            else None
        )


@pytest.mark.parametrize("action", ["kill", "delete", "delete_force", "delete_after_stop"])
def test_kill_and_delete_do_not_wait_their_turn_to_be_accepted(action: str) -> None:
    status = min(ALLOWED[action])
    assert refusal(action, status, TaskState.STOPPING) is None


@pytest.mark.parametrize("status", [None, "", "running", "Nonsense"])
def test_a_word_that_is_no_status_allows_nothing(status: str | None) -> None:
    assert all(refusal(action, status, None) for action in ALLOWED)


def test_every_durable_action_has_its_states() -> None:
    assert ACCEPTANCE.keys() <= ALLOWED.keys()


def test_what_acceptance_writes_stands_for_an_action_behind_it() -> None:
    written = {accepted.status for accepted in ACCEPTANCE.values() if accepted.status}
    assert written <= TRANSIENT
    assert not TRANSIENT & SETTLED


def test_an_accepted_delete_is_not_accepted_again_without_force() -> None:
    assert Status.DELETING not in ALLOWED["delete"] | ALLOWED["delete_after_stop"]
    assert Status.DELETING in ALLOWED["delete_force"]


def test_words_fit_their_columns() -> None:
    assert all(len(word) <= 20 for word in (*Status, *TaskState))


# --- invariants -----------------------------------------------------------------------------------


@given(st.sampled_from(sorted(TRANSIENT)), TASKS)
def test_a_transient_state_needs_an_action_behind_it(status: Status, task: TaskState | None) -> None:
    sentence = f"status {status} without a queued or running action"
    # The runtime restarts a container by itself, too.
    assert (sentence in check(status, task, [])) == (status != Status.RESTARTING)
    assert check(status, task, ["create"]) == []


@given(st.sampled_from(sorted(set(Status) - TRANSIENT)), st.sampled_from(TaskState))
def test_a_container_is_held_only_by_an_action_that_is_there(status: Status, task: TaskState) -> None:
    assert check(status, task, []) == [f"task_state {task} without a queued or running action"]
    assert check(status, None, []) == check(status, task, ["stop"]) == []


@pytest.mark.parametrize("status", [None, "", "Stoped"])
def test_a_word_that_is_no_status_is_broken(status: str | None) -> None:
    assert check(status, None, ["stop"]) == [f"status {status!r} is not a status"]
