"""A private RabbitMQ of Debian's package: own node name, own epmd, own ports, an account without rights.

    broker = RabbitMQ()
    url = broker.url()  # of a vhost that nobody else has
    broker.stop()
    broker.start()  # on the same ports, its queues that are not durable gone
    broker.drop_connections()  # of all its clients
    with broker.silent(): ...  # it takes connections and data, and says nothing
    broker.close()

With `tls` it listens with TLS alone, and `broker.certificates` has the authority to trust.
"""

import contextlib
import itertools
import json
import os
import pathlib
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

import psutil

from tests.support.certificates import Certificates
from tests.support.service import free_port, listens
from tests.support.waiting import DEADLINE, until

_SERVER = "/usr/lib/rabbitmq/bin/rabbitmq-server"
_CONTROL = "/usr/lib/rabbitmq/bin/rabbitmqctl"
_UNPRIVILEGED = "nobody"
_VHOSTS = 32


class RabbitMQ:
    def __init__(self, *, tls: bool = False) -> None:
        assert pathlib.Path(_SERVER).exists(), f"{_SERVER} is missing: apt-get install rabbitmq-server"
        # Not under pytest's own directory, which is closed to other accounts.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="tierce-rabbitmq-"))
        self.port = free_port()
        self.password = secrets.token_hex(8)
        self.certificates = Certificates(self.directory / "tls") if tls else None
        self._epmd_port, self._distribution_port = free_port(), free_port()
        self._vhosts = (f"cloud{number}" for number in range(_VHOSTS))
        self._starts = itertools.count()
        self._configure()
        self._account = self._give_away()
        self._epmd = self._spawn(["epmd", "-port", str(self._epmd_port), "-address", "127.0.0.1"])
        until(lambda: listens(self._epmd_port))
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = self._spawn([_SERVER])
        until(lambda: self._process.poll() is not None or listens(self.port))
        assert self._process.poll() is None, self._log()

    def stop(self) -> None:
        """Stop it. Clients see their connections end, and then a port where nobody listens."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(DEADLINE)

    def drop_connections(self) -> None:
        """Close the connection of every client; its queues stay."""
        self._control("close_all_connections", "a test")

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        """Stop its processes meanwhile: the system still takes what clients send."""
        processes = [psutil.Process(self._process.pid), *psutil.Process(self._process.pid).children(True)]
        try:
            for process in processes:
                process.suspend()
            yield
        finally:
            for process in processes:
                process.resume()

    def opened(self) -> int:
        """How many connections clients have opened since its start."""
        return int(self._control("eval", "element(2, hd(ets:lookup(connection_churn_metrics, node())))."))

    def received(self) -> int:
        """How many messages clients have sent since its start."""
        counters = "maps:values(rabbit_global_counters:overview())"
        return int(
            self._control("eval", f"lists:sum([maps:get(messages_received_total, C, 0) || C <- {counters}]).")
        )

    def _control(self, *arguments: str) -> str:
        command = [_CONTROL, *arguments]
        done = subprocess.run(
            command, env=self._environment(), capture_output=True, text=True, check=False, **self._account
        )
        assert done.returncode == 0, f"{done.stdout}{done.stderr}"
        return str(done.stdout)

    def close(self) -> None:
        """End it for good."""
        if self._process.poll() is None:
            self.stop()
        self._epmd.terminate()
        self._epmd.wait()
        shutil.rmtree(self.directory)

    def url(self) -> str:
        """The transport URL of a vhost of its own."""
        return f"rabbit://tierce:{self.password}@localhost:{self.port}/{next(self._vhosts)}"

    def _configure(self) -> None:
        vhosts = list(self._vhosts)
        self._vhosts = (name for name in vhosts)
        definitions = {
            "users": [{"name": "tierce", "password": self.password, "tags": ["administrator"]}],
            "vhosts": [{"name": name} for name in vhosts],
            "permissions": [
                {"user": "tierce", "vhost": name, "configure": ".*", "write": ".*", "read": ".*"}
                for name in vhosts
            ],
        }
        (self.directory / "definitions.json").write_text(json.dumps(definitions))
        lines = [f"load_definitions = {self.directory / 'definitions.json'}", "log.file.level = warning"]
        if self.certificates is None:
            lines += [f"listeners.tcp.1 = 127.0.0.1:{self.port}"]
        else:
            lines += [
                "listeners.tcp = none",
                f"listeners.ssl.1 = 127.0.0.1:{self.port}",
                f"ssl_options.cacertfile = {self.certificates.authority}",
                f"ssl_options.certfile = {self.certificates.certificate}",
                f"ssl_options.keyfile = {self.certificates.key}",
            ]
        (self.directory / "rabbitmq.conf").write_text("\n".join(lines) + "\n")
        (self.directory / "enabled_plugins").write_text("[].\n")
        cookie = self.directory / ".erlang.cookie"
        cookie.write_text(secrets.token_hex(16))
        cookie.chmod(0o400)

    def _give_away(self) -> dict[str, Any]:
        """Make everything belong to whom it runs as; the arguments of subprocess for that."""
        if os.geteuid() != 0:
            return {}
        account = pwd.getpwnam(_UNPRIVILEGED)
        for path in [self.directory, *self.directory.rglob("*")]:
            os.chown(path, account.pw_uid, account.pw_gid)
        return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}

    def _spawn(self, command: list[str]) -> "subprocess.Popen[bytes]":
        with (self.directory / f"log-{next(self._starts)}").open("wb") as output:
            # It goes with the tests, also when these are killed.
            return subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self._environment(),
                cwd=self.directory,
                **self._account,
            )

    def _environment(self) -> dict[str, str]:
        directory = str(self.directory)
        return {
            "PATH": os.environ["PATH"],
            "HOME": directory,
            "LANG": "C.UTF-8",
            "ERL_EPMD_PORT": str(self._epmd_port),
            "RABBITMQ_NODENAME": f"tierce{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "RABBITMQ_CONFIG_FILE": f"{directory}/rabbitmq",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{directory}/enabled_plugins",
            "RABBITMQ_MNESIA_BASE": f"{directory}/data",
            "RABBITMQ_LOG_BASE": f"{directory}/log",
            # Two processors are enough for a test's messages; its many threads would only wait.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2 +sbwt none",
        }

    def _log(self) -> str:
        return "\n".join(
            path.read_text(errors="replace")[-4000:] for path in sorted(self.directory.glob("log-*"))
        )
