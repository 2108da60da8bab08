"""`tierce home`: make the directory in which a one-machine service keeps everything it has.

`init` writes the configuration, the policy overrides, the administrator's password and the files that
clients read. It may be run any number of times: what an operator changed by hand is kept, what is still
as it was written follows the options.
"""

import argparse
import dataclasses
import hashlib
import json
import secrets
import shlex
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from oslo_config import cfg
from oslo_policy.policy import DocumentedRuleDefault

from tierce import config
from tierce.config.addresses import in_url
from tierce.control.policies import list_rules
from tierce.control.policies.base import OWNER
from tierce.files import replacing

DEFAULT_PORT = 9517
DEFAULT_DOCKER = "unix:///var/run/docker.sock"
DEFAULT_DEMO_IMAGE = "busybox:1.36"
PASSWORD_FILE = "admin.password"  # noqa: S105 - the name of a file, not a password
RECORD = ".written.json"
"""What `init` wrote last, as file name -> SHA-256: a file that differs from it was changed by hand."""
_CREATE = "container:create"
_ATTACH = "container:attach"
"""Is asked for with GET, and gives input to a program."""


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """What the files of a home say. `listen` is the address of the API, `host` the name of the node."""

    path: Path
    host: str
    listen: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    docker_url: str = DEFAULT_DOCKER
    demo_image: str = DEFAULT_DEMO_IMAGE

    @property
    def endpoint(self) -> str:
        """Where a client on this machine finds the API."""
        local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.listen, self.listen)  # noqa: S104 - a look-up
        return f"http://{in_url(local)}:{self.port}/v1"


def render_configuration(settings: Settings) -> str:
    """The text of `tierce.conf`."""

    def literal(value: object) -> str:
        return str(value).replace("$", "$$")  # a lone dollar would name another option

    return f"""\
# Written by `tierce home init`. A copy that was changed by hand is kept as it is.

[DEFAULT]
host = {literal(settings.host)}
state_path = {literal(settings.path)}
default_image_pull_policy = ifnotpresent

[api]
host_ip = {settings.listen}
port = {settings.port}

[database]
connection = sqlite:///{literal(settings.path / "tierce.sqlite")}

[docker]
api_url = {literal(settings.docker_url)}
"""


def render_policy() -> str:
    """The text of `policy.yaml`, which is read from beside `tierce.conf`: readers only read."""
    changes = "\n".join(
        f'"{name}": "role:member and rule:admin_or_owner"' for name in sorted(_changing() - {_CREATE})
    )
    return f"""\
# Written by `tierce home init`. A copy that was changed by hand is kept as it is.
# Rules here replace the built-in ones of the same name; a running service sees the change.

# Those who are only readers change nothing. (Every admin is a member, every member a reader.)
"{_CREATE}": "role:member"
{changes}

# Let every member choose whether an image is pulled again:
# "container:create:image_pull_policy": "role:member"

# Let every member remove a container that still runs:
# "container:delete_force": "role:member and rule:admin_or_owner"
"""


def _changing() -> set[str]:
    """The rules of what a project's own people may do by default, but for what only looks."""
    return {
        rule.name
        for rule in list_rules()
        if isinstance(rule, DocumentedRuleDefault)
        and rule.check_str == OWNER
        and (rule.name == _ATTACH or any(request["method"] != "GET" for request in rule.operations))
    }


def render_clouds(settings: Settings, password: str) -> str:
    """The text of `clouds.yaml`: JSON strings, which are YAML strings that need no further care."""
    return f"""\
# Written by `tierce home init`: use it with `export OS_CLIENT_CONFIG_FILE=... OS_CLOUD=tierce`.
clouds:
  tierce:
    auth_type: http_basic
    auth:
      endpoint: {json.dumps(settings.endpoint)}
      username: admin
      password: {json.dumps(password)}
"""


def render_openrc(settings: Settings, password: str) -> str:
    """The text of `openrc`, for a shell to source."""
    variables = {
        "OS_AUTH_TYPE": "http_basic",
        "OS_ENDPOINT": settings.endpoint,
        "OS_USERNAME": "admin",
        "OS_PASSWORD": password,
        "DOCKER_HOST": settings.docker_url,
        "TIERCE_DEMO_IMAGE": settings.demo_image,
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    head = "# Written by `tierce home init`: the administrator of this service. Use: source openrc"
    return "\n".join([head, "unset OS_CLOUD", *lines, ""])


def init(settings: Settings, new_password: Callable[[], str]) -> dict[str, str]:
    """Ensure the home is there and complete; return file name -> written, unchanged or kept.

    A new directory has mode 0700, and every file 0600. `new_password` is called when there is no
    password yet. Raises OSError when the directory cannot be written.
    """
    home = settings.path
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    password_file = home / PASSWORD_FILE
    if not password_file.exists():
        _write(password_file, new_password() + "\n")
    password = password_file.read_text().strip()
    wanted = {
        "tierce.conf": render_configuration(settings),
        "policy.yaml": render_policy(),
        "clouds.yaml": render_clouds(settings, password),
        "openrc": render_openrc(settings, password),
    }
    record = _read_record(home)
    outcome = {name: _ensure(home / name, text, record.get(name)) for name, text in wanted.items()}
    ours = {name: _digest(text) for name, text in wanted.items() if outcome[name] != "kept"}
    if record | ours != record:
        _write(home / RECORD, json.dumps(record | ours, indent=1) + "\n")
    return outcome


def settle(
    path: Path,
    *,
    host: str,
    port: int | None = None,
    docker_url: str | None = None,
    demo_image: str | None = None,
) -> Settings:
    """The settings of the home at `path`: those asked for (not None), else those it has, else the defaults.

    A node keeps the name it has, since its containers are recorded under it. A configuration that was
    changed by hand wins over what is asked for, so that the clients' files agree with the service.
    Raises oslo.config's errors for a configuration that cannot be read.
    """
    file = path / "tierce.conf"
    asked: dict[str, Any] = {"port": port, "docker_url": docker_url}
    present: dict[str, Any] = {}
    by_hand = False
    if file.exists():
        conf = config.load([str(file)])
        present = {
            "host": conf.host,
            "listen": conf.api.host_ip,
            "port": conf.api.port,
            "docker_url": conf.docker.api_url,
        }
        by_hand = _digest(file.read_text()) != _read_record(path).get(file.name)
    given = {name: value for name, value in asked.items() if value is not None}
    merged = given | present if by_hand else present | given
    image = demo_image or _demo_image(path / "openrc") or DEFAULT_DEMO_IMAGE
    return Settings(path, **({"host": host} | merged), demo_image=image)


def _demo_image(openrc: Path) -> str | None:
    words = shlex.split(openrc.read_text(), comments=True) if openrc.exists() else []
    values = (word.partition("=")[2] for word in words if word.startswith("TIERCE_DEMO_IMAGE="))
    return next(values, None)


def _ensure(file: Path, text: str, recorded: str | None) -> str:
    present = file.read_text() if file.exists() else None
    if present == text:
        return "unchanged"
    if present is not None and _digest(present) != recorded:
        return "kept"
    _write(file, text)
    return "written"


def _write(file: Path, text: str) -> None:
    with replacing(file) as stream:
        stream.write(text.encode())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read_record(home: Path) -> dict[str, str]:
    file = home / RECORD
    record: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    return record


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `home init` to the command line."""
    home = subparsers.add_parser("home", help="the directory of a service that runs on one machine")
    commands = home.add_subparsers(dest="home_command", required=True)
    command = commands.add_parser("init", help="make it, or bring it up to date")
    command.add_argument("--home", type=Path, required=True, metavar="DIR", help="the directory")
    command.add_argument(
        "--port", type=_port, help=f"port of the API (default: as it is, else {DEFAULT_PORT})"
    )
    command.add_argument(
        "--docker", metavar="URL", help=f"where the Engine listens (default: as it is, else {DEFAULT_DOCKER})"
    )
    command.add_argument(
        "--demo-image",
        metavar="REF",
        help=f"the image that `openrc` names (default: as it is, else {DEFAULT_DEMO_IMAGE})",
    )


def _port(text: str) -> int:
    # A number that the service refuses must not get into its configuration.
    if text.isdecimal() and 0 < int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no port: a number from 1 to 65535")


def run(args: argparse.Namespace) -> int:
    """Carry out `home init`: one line for each file that was written or kept; 1 after an error."""
    try:
        settings = settle(
            args.home.absolute(),
            host=socket.gethostname(),
            port=args.port,
            docker_url=args.docker,
            demo_image=args.demo_image,
        )
        outcome = init(settings, lambda: secrets.token_urlsafe(18))
    except (OSError, cfg.Error, ValueError) as error:
        print(f"{args.home}: {error}", file=sys.stderr)
        return 1
    for name, what in outcome.items():
        if what == "kept":
            print(f"kept {settings.path / name}: it was changed by hand")
        elif what == "written":
            print(f"wrote {settings.path / name}")
    return 0
