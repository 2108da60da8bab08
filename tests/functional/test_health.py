"""The health check looks at what the service depends on."""

import pathlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import webob
from oslo_config import cfg

from tests.support.threads import at_once
from tierce import config
from tierce.api.front import Wsgi, put_before
from tierce.api.health import Dependency
from tierce.db.engine import connect


def never(_environ: dict[str, Any], _start: Callable[..., Any]) -> list[bytes]:
    raise AssertionError("a health check came through")


def served(*dependencies: Dependency, detailed: bool = False) -> Wsgi:
    conf = config.load()
    application = put_before(never, conf)  # registers the library's options
    conf.set_override("detailed", detailed, "healthcheck")
    return put_before(application, conf, dependencies)


def ask(application: Wsgi, method: str = "GET") -> webob.Response:
    request = webob.Request.blank("/healthcheck", method=method, accept="application/json")
    return request.get_response(application)


def reasons(answer: webob.Response) -> list[str]:
    return [each["reason"] for each in answer.json["reasons"]]


def test_without_its_database_a_service_is_not_healthy() -> None:
    there = [False]
    application = served(Dependency("database", True, lambda: there[0]))
    answer = ask(application)
    assert (answer.status_code, answer.json["reasons"]) == (503, ["OK", "DATABASE AWAY"])
    assert ask(application, "HEAD").status_code == 503
    there[0] = True
    answer = ask(application)
    assert (answer.status_code, answer.json["reasons"]) == (200, ["OK"])


def test_a_bus_that_is_away_makes_no_service_unhealthy_and_is_told_of_in_detail() -> None:
    dependencies = [Dependency("database", True, lambda: True), Dependency("bus", False, lambda: False)]
    assert ask(served(*dependencies)).json == {"detailed": False, "reasons": ["OK"]}
    answer = ask(served(*dependencies, detailed=True))
    assert (answer.status_code, reasons(answer)) == (200, ["OK", "DATABASE OK", "BUS AWAY"])


def test_a_dependency_that_hangs_is_asked_once_however_many_want_to_know(
    monkeypatch: pytest.MonkeyPatch, held: threading.Event
) -> None:
    monkeypatch.setattr("tierce.api.health._SECONDS", 0.1)
    asked = []

    def hang() -> bool:
        asked.append(True)
        return held.wait(30)

    application = served(Dependency("database", True, hang))
    answers = at_once([lambda: ask(application).status_code for _ in range(5)])
    assert (answers, len(asked)) == ([503] * 5, 1)


def test_who_asks_later_waits_no_longer_than_who_asked_first(
    monkeypatch: pytest.MonkeyPatch, held: threading.Event
) -> None:
    monkeypatch.setattr("tierce.api.health._SECONDS", 1.0)
    application = served(Dependency("database", True, lambda: held.wait(30)))
    assert ask(application).status_code == 503
    begun = time.monotonic()
    assert [ask(application).status_code for _ in range(5)] == [503] * 5
    assert time.monotonic() - begun < 1.0  # none of them for its own second


@pytest.fixture
def held() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_what_cannot_be_told_counts_as_away(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> bool:
        raise ZeroDivisionError

    assert ask(served(Dependency("database", True, fail))).status_code == 503
    assert "Whether the database answers cannot be told" in caplog.text


@pytest.mark.parametrize(
    ("url", "answers"),
    [
        ("sqlite:///DIRECTORY/db.sqlite", True),
        ("sqlite:////nosuch/directory/db.sqlite", False),
        ("mysql+pymysql://tierce:hunter2@127.0.0.1:1/tierce", False),
        ("postgresql+psycopg://tierce:hunter2@127.0.0.1:1/tierce", False),
    ],
)
def test_a_database_is_asked_once_and_says_whether_it_is_there(
    url: str, answers: bool, tmp_path: pathlib.Path
) -> None:
    located = url.replace("DIRECTORY", str(tmp_path))
    conf: cfg.ConfigOpts = config.load(overrides=[("database", "connection", located)])
    database = connect(conf)
    assert database.answers() is answers
    database.close()
