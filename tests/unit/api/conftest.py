"""Fixtures of the edge's tests."""

import pytest

from tests.unit.api.edge import Edge, make_edge


@pytest.fixture
def edge() -> Edge:
    return make_edge()
