"""The value whose uniqueness makes names unique."""

from hypothesis import example, given
from hypothesis import strategies as st

from tierce.db.containers import name_key

SCOPES = st.sampled_from(["project", "global"])
NAMES = st.text("abAB._-", min_size=1, max_size=4)
PROJECTS = st.sampled_from(["p", "p1", "", "global"])


@given(NAMES, PROJECTS)
def test_without_a_scope_no_name_is_taken(name: str, project: str) -> None:
    assert name_key("", project, name) is None


@given(SCOPES, PROJECTS)
def test_having_no_name_takes_none(scope: str, project: str) -> None:
    assert name_key(scope, project, None) is None


@given(NAMES, PROJECTS, NAMES, PROJECTS)
@example("a", "p", "A", "p")
@example("a", "p", "a", "p1")
def test_in_a_project_names_differ_by_more_than_case(
    name: str, project: str, other: str, other_project: str
) -> None:
    same = (name.lower(), project) == (other.lower(), other_project)
    assert (name_key("project", project, name) == name_key("project", other_project, other)) == same


@given(NAMES, PROJECTS, NAMES, PROJECTS)
@example("a", "p", "A", "p1")
def test_globally_names_differ_by_more_than_case_wherever_they_are(
    name: str, project: str, other: str, other_project: str
) -> None:
    assert (name_key("global", project, name) == name_key("global", other_project, other)) == (
        name.lower() == other.lower()
    )


@given(NAMES, PROJECTS)
def test_the_two_scopes_never_meet(name: str, project: str) -> None:
    """Containers named under one scope stay apart from those named under the other."""
    assert name_key("project", project, name) != name_key("global", project, name)


@given(SCOPES, PROJECTS, st.text(max_size=255))
def test_a_key_fits_its_column(scope: str, project: str, name: str) -> None:
    assert len(name_key(scope, project, name) or "") == 64
