"""Queries of networks: those that are kept on a node, and what containers asked of theirs."""

import datetime
import uuid
from collections.abc import Sequence
from typing import Any

from oslo_db import exception as db_exception
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from tierce.db import containers
from tierce.db.actions import State
from tierce.db.tables import ContainerAction, Network
from tierce.model.context import RequestContext


def insert(
    session: Session, context: RequestContext, network: str, host: str, now: datetime.datetime
) -> tuple[Network, bool]:
    """The row of a network that is kept on a node, and whether it is a new one."""
    row = Network(
        uuid=str(uuid.uuid4()),
        name=network,
        neutron_net_id=network,
        host=host,
        project_id=context.project_id,
        user_id=context.user_id,
        created_at=now,
    )
    try:
        with session.begin_nested():
            session.add(row)
    except db_exception.DBDuplicateEntry:
        return session.scalars(
            select(Network).where(Network.neutron_net_id == network, Network.host == host)
        ).one(), False
    return row, True


def set_engine_id(session: Session, row: Network, engine_id: str, now: datetime.datetime) -> None:
    """Note which network of the engine it is; the object follows."""
    values = {"network_id": engine_id, "updated_at": now}
    session.execute(update(Network).where(Network.id == row.id).values(**values))
    for field, value in values.items():
        set_committed_value(row, field, value)


def destroy(session: Session, network: str, host: str) -> None:
    """Idempotent."""
    session.execute(delete(Network).where(Network.neutron_net_id == network, Network.host == host))


def of_network(session: Session, context: RequestContext, network: str) -> Sequence[Network]:
    """A network's rows, one a node; those of the caller's project, or for an administrator of all."""
    statement = select(Network).where(Network.neutron_net_id == network).order_by(Network.id)
    if not context.is_admin:
        statement = statement.where(Network.project_id == context.project_id)
    return session.scalars(statement).all()


def projects_on_host(session: Session, host: str) -> set[str]:
    """Projects that have a network kept on the node."""
    found = session.scalars(select(Network.project_id).where(Network.host == host).distinct())
    return {project for project in found if project is not None}


def needed(session: Session, project_id: str | None, host: str, but_for: str = "") -> set[str]:
    """The project's networks on the node that are kept, or that a container is in or about to join.

    `but_for` is the uuid of a container that does not count.
    """
    kept = session.scalars(
        select(Network.neutron_net_id).where(Network.host == host, Network.project_id == project_id)
    )
    neighbours = containers.networks_of_neighbours(session, project_id, host, but_for)
    return {network for network in kept if network is not None} | neighbours


def asked(session: Session, container_uuid: str) -> dict[str, dict[str, Any]]:
    """How the container asked for each network that it has not left, in wire form: at its creation, or when
    it was attached.
    """
    rows = session.execute(
        select(ContainerAction.action, ContainerAction.state, ContainerAction.arguments)
        .where(
            ContainerAction.container_uuid == container_uuid,
            ContainerAction.action.in_(["create", "network_attach", "network_detach"]),
        )
        .order_by(ContainerAction.id)
    )
    networks: dict[str, dict[str, Any]] = {}
    for action, state, arguments in rows:
        if action == "create" or state == State.FINISHED:
            networks |= {item["network"]: item for item in (arguments or {}).get("requested_networks") or ()}
            networks.pop((arguments or {}).get("left_network") or "", None)
    return networks
