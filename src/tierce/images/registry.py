"""The `docker` image driver: images come from a registry, pulled by the engine of this node.

It decides whether to pull, from which registry and with whose credentials; the engine does the rest.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from oslo_config import cfg

from tierce.images.base import ImageRequest
from tierce.images.pulls import Progress, PullCoordinator
from tierce.images.reference import Reference, parse
from tierce.model.container import ImageFacts
from tierce.model.errors import ImageNotFound, InvalidValue


class ImageStore(Protocol):
    """The part of a runtime that this driver needs (its contract: `runtimes.base.ImageStore`)."""

    def find(self, reference: str) -> ImageFacts | None: ...

    def pull(
        self,
        reference: str,
        *,
        auth: Mapping[str, str] | None,
        idle_timeout: float,
        progress: Callable[[], None] = ...,
    ) -> ImageFacts: ...

    def remove(self, reference: str) -> None: ...


@dataclasses.dataclass(frozen=True, slots=True)
class DefaultRegistry:
    """Where images that name no registry come from, and the credentials there."""

    domain: str
    auth: Mapping[str, str] | None = dataclasses.field(default=None, repr=False)


class RegistryImages:
    """ImageDriver over an engine. `idle_timeout`: seconds without progress that end a pull."""

    def __init__(
        self, store: ImageStore, *, idle_timeout: float, default_registry: DefaultRegistry | None = None
    ) -> None:
        self._store = store
        self._idle_timeout = idle_timeout
        self._default_registry = default_registry
        self._pulls = PullCoordinator()

    @classmethod
    def from_config(cls, store: ImageStore, conf: cfg.ConfigOpts) -> "RegistryImages":
        """As `[docker] default_registry*` and `image_pull_idle_timeout` say."""
        registry = None
        if conf.docker.default_registry:
            user, password = conf.docker.default_registry_username, conf.docker.default_registry_password
            auth = {"username": user, "password": password or ""} if user else None
            registry = DefaultRegistry(conf.docker.default_registry, auth)
        return cls(store, idle_timeout=conf.image_pull_idle_timeout, default_registry=registry)

    def ensure(self, request: ImageRequest, progress: Progress = lambda: None) -> ImageFacts:
        """Ensure the node has the image, pulling as the request's policy says.

        Concurrent pulls of one image with the same credentials are one pull; `progress` is called on
        its signs of life. Raises ImageNotFound (also: absent, and the policy is never),
        ImagePullFailed, RuntimeUnreachable, InvalidValue (name, registry or policy).
        """
        reference = self._resolve(request)
        policy = request.policy.lower()  # rows of an older service have `Always`, `IfNotPresent`, `Never`
        if policy not in ("always", "ifnotpresent", "never"):
            raise InvalidValue(f"The image pull policy '{request.policy}' is unknown.")
        if policy != "always" and (found := self._store.find(reference.engine_name)):
            return found
        if policy == "never":
            raise ImageNotFound(f"Image {reference} not present with pull policy of never")
        return self._pull(reference, self._auth(reference, request), progress)

    def remove(self, reference: str) -> None:
        """Ensure the node does not have the image, given by name or by `sha256:` id.

        Raises RuntimeConflict while it is used or being pulled, InvalidValue for a name that breaks
        the grammar.
        """
        name = parse(reference).engine_name
        found = self._store.find(name)
        with self._pulls.without_pulls_of(_canonical([name, *(found.tags if found else ())])):
            self._store.remove(name)

    def _resolve(self, request: ImageRequest) -> Reference:
        reference = parse(request.reference)
        if request.auth_domain:
            return reference.within(request.auth_domain)
        return reference.within(self._default_registry.domain) if self._default_registry else reference

    def _auth(self, reference: Reference, request: ImageRequest) -> Mapping[str, str] | None:
        """The credentials for the registry that the image really comes from, and no others.

        A user chooses the image's name; to send a password to whatever host stands there would
        hand it to anybody.
        """
        if request.auth and _serves(request.auth_domain, reference):
            return request.auth
        default = self._default_registry
        return default.auth if default and _serves(default.domain, reference) else None

    def _pull(self, reference: Reference, auth: Mapping[str, str] | None, progress: Progress) -> ImageFacts:
        def pull(sign_of_life: Progress) -> ImageFacts:
            return self._store.pull(
                reference.engine_name, auth=auth, idle_timeout=self._idle_timeout, progress=sign_of_life
            )

        return self._pulls.share(reference.canonical, auth, pull, progress)


def _serves(registry: str | None, reference: Reference) -> bool:
    """Whether `reference` is an image at `registry` (a domain, maybe with a path; hosts know no case)."""
    if not registry or reference.domain is None:
        return False
    return registry.partition("/")[0].lower() == reference.domain.lower()


def _canonical(names: Iterable[str]) -> set[str]:
    canonical = set()
    for name in names:
        with contextlib.suppress(InvalidValue):  # an engine calls an image without a tag `<none>:<none>`
            canonical.add(parse(name).canonical)
    return canonical
