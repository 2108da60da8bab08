"""The image of a container: brought to the node from the registry that it refers to, if any.

Only here is a registry's password decrypted: the node reads the row itself, so that nothing but the
registry's id was ever on the bus.
"""

from tierce.agent.operations import waits
from tierce.agent.operations.base import Plugs
from tierce.db import images as records
from tierce.db import registries
from tierce.db.tables import Container, Registry
from tierce.images import committed
from tierce.images.base import ImageRequest
from tierce.images.reference import parse
from tierce.model.container import ImageFacts
from tierce.model.errors import (
    ImageNotFound,
    ImagePullFailed,
    InvalidEncryptionKey,
    InvalidValue,
    OperationNotSupported,
)

_REGISTRIES = "docker"
"""The image driver whose images come from registries."""


def ensure(plugs: Plugs, container: Container) -> ImageFacts:
    """Ensure the node has the container's image, and that the container's project may use it.

    Raises as ImageDriver.ensure, with the registry's name in what it says, InvalidEncryptionKey, Conflict
    for a container that was deleted by force meanwhile, and OperationNotSupported for an image that is not
    to come from a registry: another may have its name there.
    """
    # Old clouds have the name of a class behind the driver's.
    driver = (container.image_driver or _REGISTRIES).split(".")[0]
    if driver != _REGISTRIES:
        raise OperationNotSupported(
            f"The container's node cannot have images of {driver}. Use {_REGISTRIES}."
        )
    made = _made_of_a_container(plugs, container)
    if made is not None:
        return made
    registry = _registry(plugs, container)
    request = ImageRequest(
        reference=container.image or "",
        policy=(container.image_pull_policy or plugs.conf.default_image_pull_policy).lower(),
        auth_domain=registry.domain if registry else None,
        auth=_credentials(plugs, registry) if registry else None,
        project=container.project_id,
    )
    try:
        return plugs.images.ensure(request, lambda: waits.require_wanted(plugs, container.uuid))
    except (ImageNotFound, ImagePullFailed) as exc:
        if registry is None:
            raise
        raise type(exc)(f"{exc.message.rstrip('.')}. {_advice(registry)}") from exc


def _made_of_a_container(plugs: Plugs, container: Container) -> ImageFacts | None:
    """The image of that name that the project has made here itself: it comes before any registry's."""
    if container.registry_id is not None:
        return None
    try:
        name = committed.name_for(container.project_id or "", parse(container.image or ""))
    except InvalidValue:
        return None  # no image can have been made under it
    record = plugs.database.read(
        lambda session: records.named(session, name.name, name.tag or "", plugs.host)
    )
    return plugs.runtime.images.find(name.engine_name) if record is not None else None


def _registry(plugs: Plugs, container: Container) -> Registry | None:
    registry_id = container.registry_id
    if registry_id is None:
        return None
    return plugs.database.read(lambda session: registries.by_id(session, registry_id))


def _credentials(plugs: Plugs, registry: Registry) -> dict[str, str] | None:
    if not registry.username:
        return None
    try:
        password = plugs.keyring.decrypt(registry.password) if registry.password else ""
    except InvalidEncryptionKey as exc:
        raise InvalidEncryptionKey(
            f"The password of registry {registry.uuid} cannot be read on the container's node. {exc.message} "
            "Give the registry its password again, or the node the key."
        ) from exc
    return {"username": registry.username, "password": password}


def _advice(registry: Registry) -> str:
    """What to look at, since engines tell a wrong password and an image that is not there alike."""
    name = f"{registry.name} ({registry.uuid})" if registry.name else registry.uuid
    user = f"user {registry.username}" if registry.username else "no user name"
    return (
        f"The container's registry is {name}, which gives {user} for images at {registry.domain} and for no "
        "others. Check that the image is there, and that user name and password are right and may pull it."
    )
