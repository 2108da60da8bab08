"""The `docker` image driver: images come from a registry, pulled by the engine of this node.

It decides whether to pull, from which registry, with whose credentials and for whom; the engine does the
rest.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from oslo_config import cfg

from tierce.images import committed
from tierce.images.access import ImageAccess
from tierce.images.base import ImageRequest
from tierce.images.pulls import Progress, PullCoordinator, Waiting
from tierce.images.reference import Reference, canonical_names, is_image_id, parse
from tierce.model.container import FoundImage, ImageFacts
from tierce.model.errors import ImageNotFound, InvalidValue, OperationNotSupported

_SEARCHABLE = ("docker.io", "index.docker.io")
"""Names of the public registry, the one that engines can search."""


ACCESS_FILE = "private-images.json"


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

    def require_access(self, reference: str, *, auth: Mapping[str, str] | None) -> None: ...

    def remove(self, reference: str) -> None: ...

    def search(self, term: str) -> Sequence[FoundImage]: ...


@dataclasses.dataclass(frozen=True, slots=True)
class DefaultRegistry:
    """Where images that name no registry come from, and the credentials there."""

    domain: str
    auth: Mapping[str, str] | None = dataclasses.field(default=None, repr=False)


class RegistryImages:
    """ImageDriver over an engine. `idle_timeout`: seconds without progress that end a pull."""

    def __init__(
        self,
        store: ImageStore,
        access: ImageAccess,
        *,
        idle_timeout: float,
        default_registry: DefaultRegistry | None = None,
        waiting: Waiting = contextlib.nullcontext,
    ) -> None:
        """`waiting` is entered while a registry is waited for."""
        self._store = store
        self._access = access
        self._idle_timeout = idle_timeout
        self._default_registry = default_registry
        self._waiting = waiting
        self._pulls = PullCoordinator(waiting)

    @classmethod
    def from_config(
        cls, store: ImageStore, conf: cfg.ConfigOpts, waiting: Waiting = contextlib.nullcontext
    ) -> "RegistryImages":
        """As `[docker] default_registry*` and `image_pull_idle_timeout` say; `state_path` has the access."""
        registry = None
        if conf.docker.default_registry:
            user, password = conf.docker.default_registry_username, conf.docker.default_registry_password
            auth = {"username": user, "password": password or ""} if user else None
            registry = DefaultRegistry(conf.docker.default_registry, auth)
        access = ImageAccess(Path(conf.state_path) / ACCESS_FILE)
        idle_timeout = conf.image_pull_idle_timeout
        return cls(store, access, idle_timeout=idle_timeout, default_registry=registry, waiting=waiting)

    def ensure(self, request: ImageRequest, progress: Progress = lambda: None) -> ImageFacts:
        """Ensure the node has the image, and that the project may use it; pull as the policy says.

        An image that was pulled with the credentials of one project is used for another one only when
        the registry gives it to that one too. Concurrent pulls of one image with the same credentials
        are one pull, and `progress` is called as `ImageDriver` says. Raises ImageNotFound (also: absent, and
        the policy is never), ImagePullFailed, RuntimeUnreachable, InvalidValue (name, registry or policy).
        """
        reference = self._resolve(request)
        policy = request.policy.lower()  # rows of an older service have `Always`, `IfNotPresent`, `Never`
        if policy not in ("always", "ifnotpresent", "never"):
            raise InvalidValue(f"The image pull policy '{request.policy}' is unknown.")
        own_auth = self._own_auth(reference, request)
        auth = own_auth or self._default_auth(reference)
        found = self._store.find(reference.engine_name)
        if found and not self._access.allows(found, reference.canonical, request.project):
            if policy == "never":
                found = None  # to whoever may not use it, it is not there
            else:
                # A pull would not do: engines pull by digest from what they have, and ask nobody.
                with self._waiting():
                    self._store.require_access(reference.engine_name, auth=auth)
                self._access.grant(found, request.project)
        if found and policy != "always":
            return found
        if policy == "never":
            raise ImageNotFound(f"Image {reference} not present with pull policy of never")
        pulled = self._pull(reference, auth, progress, private=own_auth is not None)
        self._access.grant(pulled, request.project)
        return pulled

    def look_again(self) -> None:
        self._pulls.look_again()

    def remove(self, reference: str) -> None:
        """Ensure the node does not have the image, given by name or by `sha256:` id.

        Raises RuntimeConflict while it is used or being pulled, InvalidValue for a name that breaks
        the grammar.
        """
        name = reference if is_image_id(reference) else parse(reference).engine_name
        found = self._store.find(name)
        with self._pulls.without_pulls_of(canonical_names([name, *(found.tags if found else ())])):
            self._store.remove(name)

    def tidy(self) -> None:
        """Forget whose images were that the node has no more. Raises RuntimeUnreachable."""
        self._access.forget_gone(lambda image: self._store.find(image) is not None)

    def search(self, name: str, exact: bool) -> list[FoundImage]:
        """Images of the public registry with `name` in their names, or with `exact` of that very name.

        A tag or digest of `name` means nothing. Raises InvalidValue for a bad name,
        OperationNotSupported for one of another registry, ImageSearchFailed, RuntimeUnreachable.
        """
        wanted = parse(name)
        if wanted.domain is not None and wanted.domain.lower() not in _SEARCHABLE:
            raise OperationNotSupported(
                f"Images can be searched for in the public registry only, not in {wanted.domain}. "
                "Leave the registry out of the name."
            )
        # The registry calls what is below `library` by its bare name.
        found = self._store.search(wanted.path.removeprefix("library/"))
        same = canonical_names([wanted.path])
        return [each for each in found if not exact or canonical_names([each.name]) == same]

    def _resolve(self, request: ImageRequest) -> Reference:
        reference = parse(request.reference)
        default = self._default_registry.domain if self._default_registry else None
        if registry := request.auth_domain or default:
            reference = reference.within(registry)
        # Looked at last: a user's registry may be called so too.
        if (reference.domain or "").lower() == committed.DOMAIN:
            raise ImageNotFound(f"Image {reference} could not be found.")
        return reference

    def _own_auth(self, reference: Reference, request: ImageRequest) -> Mapping[str, str] | None:
        """The user's credentials, if the image really comes from the registry that they are for.

        A user chooses the image's name; to send a password to whatever host stands there would
        hand it to anybody.
        """
        return request.auth if request.auth and _serves(request.auth_domain, reference) else None

    def _default_auth(self, reference: Reference) -> Mapping[str, str] | None:
        """The node's own credentials, for images at its default registry."""
        default = self._default_registry
        return default.auth if default and _serves(default.domain, reference) else None

    def _pull(
        self, reference: Reference, auth: Mapping[str, str] | None, progress: Progress, *, private: bool
    ) -> ImageFacts:
        name = reference.engine_name

        def pull(sign_of_life: Progress) -> ImageFacts:
            return self._store.pull(name, auth=auth, idle_timeout=self._idle_timeout, progress=sign_of_life)

        def pull_privately(sign_of_life: Progress) -> ImageFacts:
            with self._access.restricted(reference.canonical, lambda: self._store.find(name)):
                return pull(sign_of_life)

        return self._pulls.share(reference.canonical, auth, pull_privately if private else pull, progress)


def _serves(registry: str | None, reference: Reference) -> bool:
    """Whether `reference` is an image at `registry` (a domain, maybe with a path; hosts know no case)."""
    if not registry or reference.domain is None:
        return False
    return registry.partition("/")[0].lower() == reference.domain.lower()
