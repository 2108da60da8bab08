"""Parameters of changing a container, of rebuilding it, and of making an image of it."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, StringConstraints, ValidationInfo, model_validator

from tierce.api.requests.containers import ImageDriver
from tierce.api.requests.fields import Bool, Cpu, EmptyIsNone, ImageName, Memory, Name, NoneWord
from tierce.api.requests.schema import Params, Rules, known, parse, rules_of
from tierce.images import reference
from tierce.images.reference import Reference
from tierce.model.errors import InvalidValue
from tierce.model.spec import ContainerChange


class UpdateContainer(Params):
    """The body of `PATCH /v1/containers/{ident}`: a plain object, whatever the method suggests."""

    name: Name | None = None
    auto_heal: Bool | None = None
    cpu: Cpu | None = None
    memory: Memory | None = None

    def to_change(self) -> ContainerChange:
        return ContainerChange(name=self.name, auto_heal=self.auto_heal, cpu=self.cpu, memory=self.memory)


class ResizeContainer(UpdateContainer):
    """The body of `resize_container`: the same, with something to resize."""

    @model_validator(mode="after")
    def _has_a_size(self) -> "ResizeContainer":
        if self.cpu is None and self.memory is None:
            raise ValueError("Invalid input for field 'cpu'. Either cpu or memory is required.")
        return self


def _image(value: str, info: ValidationInfo) -> str:
    driver = info.data.get("image_driver") or rules_of(info).conf.default_image_driver
    if driver == "docker":
        _parsed(value)
    return value


class RebuildContainer(Params):
    """Neither means: of the same image. The driver comes first, as it decides what a name is."""

    image_driver: Annotated[ImageDriver | None, NoneWord] = None
    image: Annotated[Annotated[ImageName, AfterValidator(_image)] | None, NoneWord] = None


def rebuild(values: Mapping[str, Any], rules: Rules) -> RebuildContainer:
    """Of what image to rebuild. Raises as `parse`; other parameters were always ignored."""
    return parse(RebuildContainer, known(RebuildContainer, values), rules)


def _parsed(name: str) -> Reference:
    """The name taken apart. Raises ValueError with the reason."""
    try:
        return reference.parse(name)
    except InvalidValue as exc:
        raise ValueError(exc.message) from exc


def _repository(value: str) -> str:
    parsed = _parsed(value)
    if parsed.tag is not None or parsed.digest is not None:
        raise ValueError("It must have neither tag nor digest: the tag is a parameter of its own.")
    return value


def _tag(value: str) -> str:
    _parsed(f"x:{value}")
    return value


Repository = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=255), AfterValidator(_repository)
]
Tag = Annotated[str, StringConstraints(strict=True, max_length=128), AfterValidator(_tag)]


class CommitContainer(Params):
    """The name of the image to be; without a tag `latest`."""

    repository: Repository
    tag: Annotated[Tag | None, NoneWord, EmptyIsNone] = None

    def to_reference(self) -> Reference:
        return reference.parse(f"{self.repository}:{self.tag or 'latest'}")
