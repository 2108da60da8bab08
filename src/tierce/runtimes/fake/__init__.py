"""A runtime in memory: a whole control plane runs on it without an engine, for tests and load tests.

`FakeEngine` plays the machine: its containers, images and networks, and the faults it was told to
have. `FakeRuntime` is an agent's connection to it, so an engine outlives the agents of a test.
"""

from tierce.runtimes.fake.engine import FakeEngine
from tierce.runtimes.fake.runtime import FakeRuntime

__all__ = ["FakeEngine", "FakeRuntime"]
