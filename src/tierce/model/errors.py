"""Domain errors.

Each says what was asked, what stood in the way and, where it can, what to do. How an error looks over
HTTP is decided in `api/errors.py`, on the bus in `rpc/failures.py`; nobody decides anything by its text.
"""


class TierceError(Exception):
    """Base of every error that this program raises on purpose.

    `summary` is the message for those who may not know the nodes: without their names, and what they have.
    """

    def __init__(self, message: str, summary: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.summary = summary or message


# --- the request is wrong -------------------------------------------------------------------------


class Invalid(TierceError):
    """The request cannot be carried out as it is written."""


class InvalidValue(Invalid):
    """A parameter has a value outside its documented range."""


class InvalidParameterValue(Invalid):
    """A parameter names something that does not exist (a sort key, say)."""


class InvalidParamInVersion(Invalid):
    """A field is newer than the microversion of the request."""

    def __init__(self, param: str, version: str, minimum: str) -> None:
        super().__init__(
            f"Invalid param {param} because current request version is {version}. "
            f"{param} is only supported from version {minimum}"
        )


class SchemaInvalid(Invalid):
    """A field of the request breaks its documented type or bounds."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class MalformedBody(Invalid):
    """The body is not a JSON object."""


class ImageNotFound(Invalid):
    """The image asked for does not exist where it was looked for."""


class OperationNotSupported(Invalid):
    """What is asked of a plug cannot be done with it."""


class NoInteractiveFlag(Invalid):
    """Attach to a container that was created without `interactive`."""


class Base64Invalid(Invalid):
    """File data that is not base64."""


class ArchiveTooLarge(Invalid):
    """More than one request may move to or from a container."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"The archive has more than {limit} bytes, the most that one request may move. "
            "Copy it in parts, or have the operator raise the limit."
        )


# --- the caller may not ---------------------------------------------------------------------------


class NotAuthorized(TierceError):
    """The caller is known, but may not do this."""


class PolicyNotAuthorized(NotAuthorized):
    """A policy rule refused the caller."""

    def __init__(self, rule: str) -> None:
        super().__init__(f"Policy doesn't allow {rule} to be performed.")
        self.rule = rule


class ExternalNetworkAttachForbidden(NotAuthorized):
    def __init__(self, network: str) -> None:
        super().__init__(f"It is not allowed to create an interface on external network {network}")


class OverQuota(NotAuthorized):
    """The project would pass one of its limits."""


# --- it does not exist ----------------------------------------------------------------------------


class NotFound(TierceError):
    """The object does not exist, or not for this caller."""


class ContainerNotFound(NotFound):
    def __init__(self, ident: str) -> None:
        super().__init__(f"Container {ident} could not be found.")


class ComputeNodeNotFound(NotFound):
    def __init__(self, ident: str) -> None:
        super().__init__(f"Compute node {ident} could not be found.")


class RequestedHostNotFound(NotFound):
    def __init__(self, host: str) -> None:
        super().__init__(f"Requested host {host} could not be found.")


class ServiceNotFound(NotFound):
    def __init__(self, host: str, binary: str) -> None:
        super().__init__(f"Service {binary} on host {host} could not be found.")


class ImageRecordNotFound(NotFound):
    def __init__(self, ident: str) -> None:
        super().__init__(f"Image {ident} could not be found.")


class NetworkNotFound(NotFound):
    def __init__(self, ident: str) -> None:
        super().__init__(f"Network {ident} could not be found.")


class PortNotFound(NotFound):
    def __init__(self, ident: str) -> None:
        super().__init__(f"Port {ident} could not be found.")


class VolumeNotFound(NotFound):
    def __init__(self, ident: str) -> None:
        super().__init__(f"Volume {ident} could not be found.")


class RegistryNotFound(NotFound):
    def __init__(self, ident: str) -> None:
        super().__init__(f"Registry {ident} could not be found.")


class ActionNotFound(NotFound):
    def __init__(self, ident: str) -> None:
        super().__init__(f"The Action resource {ident} could not be found.")


class ExecNotFound(NotFound):
    def __init__(self, exec_id: str) -> None:
        super().__init__(f"There is no exec instance {exec_id} in this container.")


class PathNotFound(Invalid):
    """No such file or directory inside the container."""


# --- the state of things forbids it ---------------------------------------------------------------


class Conflict(TierceError):
    """The object's present state, or another object, forbids it."""


class InvalidState(Conflict):
    """The container's status does not allow the action."""


class ContainerAlreadyExists(Conflict):
    def __init__(self, name: str) -> None:
        super().__init__(f"A container with name {name} already exists.")


class ImageAlreadyExists(Conflict):
    def __init__(self, repo: str, tag: str, host: str) -> None:
        super().__init__(f"An image {repo}:{tag} already exists on host {host}.")


class ContainerHostNotUp(Conflict):
    def __init__(self, uuid: str, host: str) -> None:
        super().__init__(
            f"Container {uuid} host {host} is not up.", f"The node of container {uuid} is not up."
        )


class HostNotUp(Conflict):
    def __init__(self, host: str) -> None:
        super().__init__(f"Host {host} is not up.", "The node is not up.")


class NoNodeUp(TierceError):
    def __init__(self) -> None:
        super().__init__("No node is up that could be asked. Start one, or see `GET /v1/services`.")


class ResourcesUnavailable(Conflict):
    """A node has less left than was asked of it. The message names no node: users read it."""

    why = "has less left than is asked"
    """What is short, to be said after the name of the node."""

    @classmethod
    def of(cls, why: str) -> "ResourcesUnavailable":
        exc = cls(f"The container's node {why}.")
        exc.why = why
        return exc


class NoValidHost(TierceError):
    """No node can take the container; the message says, node by node, why."""


class StaleObject(Conflict):
    """Somebody else changed the row since it was read (compare-and-swap lost): read again."""


class RegistryInUse(Conflict):
    def __init__(self, uuid: str) -> None:
        super().__init__(
            f"Failed to delete registry {uuid} since it is in use. "
            "Delete the containers that refer to it first."
        )


# --- something that this program depends on failed --------------------------------------------------


class RuntimeFailure(TierceError):
    """The container runtime refused or failed; the message is the runtime's own."""


class RuntimeConflict(RuntimeFailure):
    """The runtime says that the container's real state forbids the call."""


class RuntimeNotFound(RuntimeFailure):
    """The runtime does not have this container (or exec, or network)."""


class RuntimeBadRequest(RuntimeFailure):
    """The runtime says that the request itself is wrong."""


class RuntimeUnreachable(RuntimeFailure):
    """The runtime does not answer at all."""


class RuntimeTimeout(RuntimeUnreachable):
    """The runtime took the call and did not answer in time."""


class ImagePullFailed(RuntimeFailure):
    """The image could not be fetched."""


class ImageSearchFailed(RuntimeFailure):
    """The registry could not be searched."""


class ExecTimeout(Conflict):
    """A synchronous command ran longer than allowed and was ended."""


class BusUnavailable(TierceError):
    """The message bus cannot be reached."""


class RpcTimeout(TierceError):
    """A node did not reply in time; whether it did the work is unknown."""


class RemoteFailure(TierceError):
    """A node failed in a way that has no better name here."""


class InvalidEncryptionKey(TierceError):
    """A secret in the database cannot be written or read with the keys that this program has."""


class DatabaseBusy(TierceError):
    """The database kept refusing (deadlocks, lock time-outs) until the retries ran out."""


class DatabaseAway(DatabaseBusy):
    """There is no connection to the database, or its account is refused.

    `message` is for everybody. As text it is for operators, and says where the database is.
    """

    def __init__(self, for_operators: str) -> None:
        super().__init__("The database cannot be used now. Try again later.")
        self.args = (for_operators,)


class ServiceBusy(TierceError):
    """This service has as much to do as it can bear."""
