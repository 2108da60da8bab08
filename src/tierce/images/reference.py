"""The grammar of image names: `[domain[:port]/]path[:tag][@algorithm:hex]`.

Parsing takes time linear in the length of the text: the patterns below are possessive, so that a
hostile name cannot make them try the same letters twice. Nothing is looked up here.

Source: the reference's rules for images (part 12.3 of its API, part 8.1 of its node agent), which are
those of the distribution project, and what an engine refuses anyway.
"""

import contextlib
import dataclasses
import ipaddress
import re
from collections.abc import Iterable

from tierce.model.errors import InvalidValue

_LONGEST_NAME = 255
_LONGEST_SHOWN = 300

_COMPONENT = re.compile(r"[a-z0-9]++(?:(?:\.|__?|-++)[a-z0-9]++)*+")
_DOMAIN = re.compile(
    r"(?P<host>\[[0-9A-Fa-f:]++\]|[A-Za-z0-9]++(?:(?:-++|\.)[A-Za-z0-9]++)*+)(?::(?P<port>[0-9]{1,5}))?"
)
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_IMAGE_ID = re.compile(r"[0-9a-f]{64}")
_HEX = re.compile(r"[0-9a-f]++")
_DIGEST_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}

_DEFAULT_DOMAIN = "docker.io"
_DEFAULT_TAG = "latest"


@dataclasses.dataclass(frozen=True, slots=True)
class Reference:
    """An image name in its parts; made by `parse`, and `str` gives back exactly what was parsed.

    `domain` is a registry with its port, None where the name has none. `digest` is `algorithm:hex`.
    """

    domain: str | None
    path: str
    tag: str | None = None
    digest: str | None = None

    def __str__(self) -> str:
        tag = "" if self.tag is None else f":{self.tag}"
        digest = "" if self.digest is None else f"@{self.digest}"
        return f"{self.name}{tag}{digest}"

    @property
    def name(self) -> str:
        """The repository: domain and path, without tag and digest."""
        return self.path if self.domain is None else f"{self.domain}/{self.path}"

    @property
    def version(self) -> str:
        """What one image is told from the others by: `@digest`, `:tag` or `:latest`.

        A digest alone decides; a tag beside it is a remark, as engines take it.
        """
        return f"@{self.digest}" if self.digest else f":{self.tag or _DEFAULT_TAG}"

    @property
    def engine_name(self) -> str:
        """What an engine is asked for, e.g. `nginx:latest`."""
        return f"{self.name}{self.version}"

    @property
    def canonical(self) -> str:
        """Equal for any two names of one image, e.g. `docker.io/library/nginx:latest`."""
        domain = (self.domain or _DEFAULT_DOMAIN).lower()
        official = domain == _DEFAULT_DOMAIN and "/" not in self.path
        return f"{domain}/{'library/' if official else ''}{self.path}{self.version}"

    def within(self, registry: str) -> "Reference":
        """This image, taken from `registry` (`domain[:port]`, maybe with a path) if it names none itself.

        Raises InvalidValue for a registry that an engine would not take as one: a bare word such as
        `mirror` would become a path on the public registry.
        """
        if self.domain is not None:
            return self
        placed = parse(f"{registry}/{self}")
        if placed.domain is None:
            raise InvalidValue(
                f"The registry domain {_quoted(registry)} is invalid: it needs a dot or a port."
            )
        return placed


def parse(text: str) -> Reference:
    """Take an image name apart.

    Raises InvalidValue, with the reason, for a text that breaks the grammar; nothing else, whatever
    the text. The first component is a domain only when it has a dot or a colon or is `localhost`.
    """
    rest, at, digest = text.partition("@")
    name, tag = _split_tag(rest)
    domain, path = _split_domain(name)
    reason = (
        _wrong_with_name(name)
        or (_wrong_with_domain(domain) if domain is not None else None)
        or _wrong_with_path(path, has_domain=domain is not None)
        or ("It is an image id, not a name." if is_image_id(text) else None)
        or (_wrong_with_tag(tag) if tag is not None else None)
        or (_wrong_with_digest(digest) if at else None)
    )
    if reason:
        raise _invalid(text, reason)
    return Reference(domain, path, tag, digest if at else None)


def is_image_id(text: str) -> bool:
    """Whether an engine takes it for the id of an image that it has (`sha256:` and hex, maybe cut short)."""
    algorithm, _, value = text.partition(":")
    return algorithm in _DIGEST_LENGTHS and bool(_HEX.fullmatch(value))


def canonical_names(texts: Iterable[str]) -> set[str]:
    """The canonical forms of those texts that are names."""
    names = set()
    for text in texts:
        with contextlib.suppress(InvalidValue):  # an engine calls an image without a tag `<none>:<none>`
            names.add(parse(text).canonical)
    return names


def _split_tag(text: str) -> tuple[str, str | None]:
    """A colon after the last slash begins the tag; one before it belongs to a port."""
    name, colon, tag = text.rpartition(":")
    return (name, tag) if colon and "/" not in tag else (text, None)


def _split_domain(name: str) -> tuple[str | None, str]:
    head, slash, path = name.partition("/")
    is_domain = slash and ("." in head or ":" in head or head == "localhost")
    return (head, path) if is_domain else (None, name)


def _wrong_with_name(name: str) -> str | None:
    if not name:
        return "The name is empty."
    if len(name) > _LONGEST_NAME:
        return f"The name is longer than {_LONGEST_NAME} characters."
    return None


def _wrong_with_domain(domain: str) -> str | None:
    match = _DOMAIN.fullmatch(domain)
    if not match:
        return f"{_quoted(domain)} is not a registry's host and port."
    host, port = match["host"], match["port"]
    if port is not None and not 1 <= int(port) <= 65535:
        return f"{port} is not a port."
    if host.startswith("["):
        try:
            ipaddress.IPv6Address(host[1:-1])
        except ValueError:
            return f"{_quoted(host)} is not an IPv6 address."
    return None


def _wrong_with_path(path: str, *, has_domain: bool) -> str | None:
    for component in path.split("/"):
        if not _COMPONENT.fullmatch(component):
            return (
                f"{_quoted(component)} is not a component of a name: lower-case letters and digits, "
                "with one dot, one or two underscores, or dashes between them."
            )
    if not has_domain and _IMAGE_ID.fullmatch(path):
        return "64 hexadecimal digits are an image id, not a name."
    return None


def _wrong_with_tag(tag: str) -> str | None:
    if _TAG.fullmatch(tag):
        return None
    return (
        f"{_quoted(tag)} is not a tag: 1 to 128 letters, digits, underscores, dots and dashes, "
        "beginning with none of the last two."
    )


def _wrong_with_digest(digest: str) -> str | None:
    algorithm, _, value = digest.partition(":")
    length = _DIGEST_LENGTHS.get(algorithm)
    if length is None:
        return f"{_quoted(algorithm)} is not a digest algorithm: {', '.join(_DIGEST_LENGTHS)}."
    if len(value) != length or not _HEX.fullmatch(value):
        return f"A {algorithm} digest is {length} lower-case hexadecimal digits."
    return None


def _invalid(text: str, reason: str) -> InvalidValue:
    return InvalidValue(f"The format of image name {_quoted(text)} is invalid. {reason}")


def _quoted(text: str) -> str:
    """Somebody else's text, fit for a log line and for JSON: bounded, control characters escaped."""
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
    return "'" + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown) + "'"
