"""Clouds that are checked when their test ends: nothing unfinished, nothing broken, nothing left over."""

import pathlib
from collections.abc import Callable, Iterator

import pytest

from tests.support.client import Client
from tests.support.cloud import Cloud


@pytest.fixture
def new_cloud(tmp_path: pathlib.Path) -> Iterator[Callable[..., Cloud]]:
    """Makes a cloud, with the options of `Cloud`."""
    clouds: list[Cloud] = []

    def make(**options: object) -> Cloud:
        directory = tmp_path / f"cloud{len(clouds)}"
        directory.mkdir()
        clouds.append(Cloud(directory, **options))  # type: ignore[arg-type]  # passed on as they came
        return clouds[-1]

    yield make
    try:
        for cloud in clouds:
            cloud.let_go()
            cloud.wait_sound()
    finally:
        for cloud in clouds:
            cloud.close()


@pytest.fixture
def cloud(new_cloud: Callable[..., Cloud]) -> Cloud:
    """One node and no limits."""
    return new_cloud()


@pytest.fixture
def client(cloud: Cloud) -> Client:
    """Its administrator."""
    return cloud.client
