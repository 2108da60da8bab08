"""The plain rows that travel: volumes and their mappings, registries, networks, images, exec sessions.

Source: reference, RPC 12.2 and 12.3.
"""

from oslo_versionedobjects import fields

from tierce.rpc.objects.base import WireObject, persistent, register
from tierce.rpc.objects.types import secret_text, text


@register
class Volume(WireObject):
    VERSION = "1.0"
    fields = persistent(
        id=fields.IntegerField(),
        uuid=text(nullable=False),
        project_id=text(),
        user_id=text(),
        cinder_volume_id=text(),
        volume_provider=text(nullable=False),
        connection_info=secret_text(),
        auto_remove=fields.BooleanField(nullable=True),
        host=text(),
        contents=secret_text(),
    )


@register
class VolumeMapping(WireObject):
    """A mount. The fields from `cinder_volume_id` on are those of the volume behind it."""

    VERSION = "1.5"
    fields = persistent(
        id=fields.IntegerField(),
        uuid=text(nullable=False),
        project_id=text(),
        user_id=text(),
        container_path=text(),
        container_uuid=text(),
        volume_id=fields.IntegerField(),
        volume=fields.ObjectField("Volume", nullable=True),
        # No class has this name, so the field only ever holds null.
        container=fields.ObjectField("ContainerBase", nullable=True),
        cinder_volume_id=text(),
        volume_provider=text(nullable=False),
        connection_info=secret_text(),
        auto_remove=fields.BooleanField(nullable=True),
        host=text(),
        contents=secret_text(),
    )


@register
class Registry(WireObject):
    VERSION = "1.0"
    fields = persistent(
        id=fields.IntegerField(),
        uuid=text(),
        name=text(),
        project_id=text(),
        user_id=text(),
        domain=text(nullable=False),
        username=text(),
        password=secret_text(),
    )


@register
class ZunNetwork(WireObject):
    VERSION = "1.2"
    fields = persistent(
        id=fields.IntegerField(),
        uuid=text(),
        project_id=text(),
        user_id=text(),
        name=text(),
        network_id=text(),
        neutron_net_id=text(),
        host=text(),
    )


@register
class Image(WireObject):
    VERSION = "1.2"
    fields = persistent(
        id=fields.IntegerField(),
        uuid=text(),
        image_id=text(),
        project_id=text(),
        user_id=text(),
        repo=text(),
        tag=text(),
        size=text(),
        host=text(),
    )


@register
class ExecInstance(WireObject):
    VERSION = "1.0"
    fields = persistent(
        id=fields.IntegerField(),
        container_id=fields.IntegerField(),
        exec_id=text(nullable=False),
        token=secret_text(),
        url=text(),
    )
