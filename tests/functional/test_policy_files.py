"""An operator's policy files that cannot be read: by their permissions, by their directory's, one of many."""

import contextlib
import os
import pathlib
import pwd
import tempfile
from collections.abc import Iterator

import pytest
from oslo_policy import opts

from tests.support.cloud import ShiftedClock
from tierce import config
from tierce.control.policy import Policy
from tierce.model.context import RequestContext

CALLER = RequestContext(user_id="u", project_id="p", roles=("member", "reader"))


class Files:
    """`policy.yaml` and `policy.d/more.yaml`, which deny a rule each, and the service that reads them."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory
        self.main, self.more = directory / "policy.yaml", directory / "policy.d" / "more.yaml"
        self.more.parent.mkdir()
        self.more.parent.chmod(0o755)  # whatever the process's umask is
        self._moment = 2_000_000_000
        conf = config.load()
        opts.set_defaults(conf)
        conf.set_override("policy_file", str(self.main), "oslo_policy")
        conf.set_override("policy_dirs", [str(self.more.parent)], "oslo_policy")
        self.write(self.main, '"container:get_all": "!"')
        self.write(self.more, '"network:get_all": "!"')
        self._clock = ShiftedClock()
        self._policy = Policy(conf, self._clock)

    def write(self, file: pathlib.Path, text: str) -> None:
        """Each is written later than what was before."""
        file.write_text(text)
        file.chmod(0o644)
        self._moment += 1
        os.utime(file, (self._moment, self._moment))

    def denied(self) -> list[str]:
        """What of three rules is denied, a second later."""
        self._clock.advance(1)
        rules = ("container:get_all", "container:get_one", "network:get_all")
        return [rule for rule in rules if not self._policy.allows(CALLER, rule)]


@pytest.fixture
def files() -> Iterator[Files]:
    # Not under pytest's own directory, which is closed to other accounts.
    with tempfile.TemporaryDirectory(prefix="tierce-policy-") as directory:
        pathlib.Path(directory).chmod(0o755)
        yield Files(pathlib.Path(directory))


@contextlib.contextmanager
def without_rights() -> Iterator[None]:
    """As an account that is not root, which may read everything."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        yield
    finally:
        os.seteuid(before)


def test_a_file_that_may_not_be_read_changes_nothing_until_it_may(
    files: Files, caplog: pytest.LogCaptureFixture
) -> None:
    files.write(files.main, '"container:get_one": "!"')
    files.main.chmod(0)
    with without_rights():
        assert [files.denied() for _ in range(3)] == [["container:get_all", "network:get_all"]] * 3
    told = [each for each in caplog.records if each.name == "tierce.control.policy"]
    assert [each.levelname for each in told] == ["ERROR"]
    assert str(files.main) in told[0].getMessage()

    files.main.chmod(0o644)
    with without_rights():
        assert files.denied() == ["container:get_one", "network:get_all"]


def test_a_file_whose_directory_is_closed_is_not_taken_for_removed(files: Files) -> None:
    before = files.denied()
    files.directory.chmod(0)
    with without_rights():
        assert files.denied() == before
    files.directory.chmod(0o755)

    files.main.unlink()
    assert files.denied() == ["network:get_all"]


def test_of_several_files_none_is_taken_while_one_cannot_be_read(files: Files) -> None:
    files.write(files.main, '"container:get_one": "!"')
    files.write(files.more, "{")
    assert [files.denied() for _ in range(3)] == [["container:get_all", "network:get_all"]] * 3

    files.write(files.more, '"network:get_all": "!"')
    assert files.denied() == ["container:get_one", "network:get_all"]
