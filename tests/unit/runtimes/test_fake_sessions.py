"""The contract of terminals and archives, kept by the fake."""

import pytest

from tests.support.engines import BUSYBOX
from tests.support.session_contract import SessionContract
from tierce.model.clock import SystemClock
from tierce.runtimes.base import Runtime
from tierce.runtimes.fake import FakeEngine, FakeRuntime


class TestFakeSessions(SessionContract):
    @pytest.fixture
    def runtime(self) -> Runtime:
        return FakeRuntime(FakeEngine(SystemClock(), images=[BUSYBOX]))
