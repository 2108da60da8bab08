"""The contract of runtimes, kept by the fake."""

import pytest

from tests.support.engines import BUSYBOX
from tests.support.runtime_contract import RuntimeContract
from tierce.model.clock import SystemClock
from tierce.runtimes.base import Runtime
from tierce.runtimes.fake import FakeEngine, FakeRuntime


class TestFake(RuntimeContract):
    @pytest.fixture
    def runtime(self) -> Runtime:
        return FakeRuntime(FakeEngine(SystemClock(), images=[BUSYBOX]))
