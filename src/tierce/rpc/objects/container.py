"""Containers, capsules and capsule members: one set of fields under four names.

Source: reference, RPC 12.1.
"""

from typing import Any

from oslo_versionedobjects import fields

from tierce.model.lifecycle import Status, TaskState
from tierce.rpc.objects.base import WireObject, persistent, register
from tierce.rpc.objects.types import JsonField, text

RELATED = frozenset({"pci_devices", "exec_instances", "registry", "containers", "init_containers"})
"""Fields that are other rows: senders leave them unset, receivers look them up when they need them."""


def _container(**own: Any) -> dict[str, Any]:
    """The fields that all four classes have, in spite of their different versions."""
    return own | persistent(
        id=fields.IntegerField(),
        container_id=text(),
        uuid=text(),
        name=text(),
        project_id=text(),
        user_id=text(),
        image=text(),
        cpu=fields.FloatField(nullable=True),
        cpu_policy=text(),
        cpuset=fields.ObjectField("Cpuset", nullable=True),
        memory=text(),
        command=fields.ListOfStringsField(nullable=True),
        status=fields.EnumField(list(Status), nullable=True),
        status_reason=text(),
        task_state=fields.EnumField(list(TaskState), nullable=True),
        environment=fields.DictOfStringsField(nullable=True),
        workdir=text(),
        auto_remove=fields.BooleanField(nullable=True),
        ports=fields.ListOfIntegersField(nullable=True),
        hostname=text(),
        labels=fields.DictOfStringsField(nullable=True),
        addresses=JsonField(nullable=True),
        image_pull_policy=text(),
        host=text(),
        restart_policy=fields.DictOfStringsField(nullable=True),
        status_detail=text(),
        interactive=fields.BooleanField(nullable=True),
        tty=fields.BooleanField(nullable=True),
        image_driver=text(),
        websocket_url=text(),
        websocket_token=text(),
        security_groups=fields.ListOfStringsField(nullable=True),
        runtime=text(),
        pci_devices=fields.ListOfObjectsField("PciDevice", nullable=True),
        disk=fields.IntegerField(nullable=True),
        auto_heal=fields.BooleanField(nullable=True),
        started_at=fields.DateTimeField(tzinfo_aware=False, nullable=True),
        exposed_ports=JsonField(nullable=True),
        exec_instances=fields.ListOfObjectsField("ExecInstance", nullable=True),
        privileged=fields.BooleanField(nullable=True),
        healthcheck=JsonField(nullable=True),
        registry_id=fields.IntegerField(nullable=True),
        registry=fields.ObjectField("Registry", nullable=True),
        annotations=JsonField(nullable=True),
        cni_metadata=JsonField(nullable=True),
        entrypoint=fields.ListOfStringsField(nullable=True),
    )


@register
class Cpuset(WireObject):
    VERSION = "1.0"
    fields = {
        "cpuset_cpus": fields.SetOfIntegersField(nullable=True),
        "cpuset_mems": fields.SetOfIntegersField(nullable=True),
    }


@register
class Container(WireObject):
    VERSION = "1.44"
    fields = _container()


@register
class Capsule(WireObject):
    VERSION = "1.4"
    fields = _container(
        containers=fields.ListOfObjectsField("CapsuleContainer", nullable=True),
        init_containers=fields.ListOfObjectsField("CapsuleInitContainer", nullable=True),
    )


@register
class CapsuleContainer(WireObject):
    VERSION = "1.4"
    fields = _container(capsule_id=fields.IntegerField())


@register
class CapsuleInitContainer(WireObject):
    VERSION = "1.4"
    fields = _container(capsule_id=fields.IntegerField())
