"""The fake engine keeps the contract of networks that a container joins and leaves."""

import pytest

from tests.support.engines import BUSYBOX
from tests.support.network_contract import NetworkContract
from tierce.model.clock import SystemClock
from tierce.runtimes.base import Runtime
from tierce.runtimes.fake import FakeEngine, FakeRuntime


class TestFakeNetworks(NetworkContract):
    @pytest.fixture
    def runtime(self) -> Runtime:
        return FakeRuntime(FakeEngine(SystemClock(), images=[BUSYBOX]))
