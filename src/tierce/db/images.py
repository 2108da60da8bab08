"""Queries of image records: pulls that somebody asked for."""

import datetime
import uuid
from collections.abc import Sequence

from oslo_db import exception as db_exception
from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from tierce.db import actions
from tierce.db.paging import paginate, require_sortable
from tierce.db.tables import Container, ContainerAction, Image
from tierce.model.context import RequestContext
from tierce.model.errors import ImageAlreadyExists, ImageRecordNotFound
from tierce.model.spec import ListQuery

SORTABLE = frozenset("id uuid repo tag image_id size host project_id user_id created_at updated_at".split())


def _scoped(context: RequestContext) -> Select[Image]:
    statement = select(Image)
    if context.is_admin and context.all_projects:
        return statement
    return statement.where(Image.project_id == context.project_id)


def get(session: Session, context: RequestContext, ident: str) -> Image:
    """One record of the caller's. Raises ImageRecordNotFound."""
    image = session.scalar(_scoped(context).where(Image.uuid == ident))
    if image is None:
        raise ImageRecordNotFound(ident)
    return image


def find(session: Session, image_uuid: str) -> Image | None:
    """A record of any project."""
    return session.scalar(select(Image).where(Image.uuid == image_uuid))


def named(session: Session, repo: str, tag: str, host: str) -> Image | None:
    """The record of an image on a node, of any project."""
    return session.scalar(select(Image).where(Image.repo == repo, Image.tag == tag, Image.host == host))


def is_recorded(session: Session, repo: str, tag: str) -> bool:
    """Whether any node has a record of an image of that name, of any project."""
    found = session.scalar(select(Image.id).where(Image.repo == repo, Image.tag == tag).limit(1))
    return found is not None


def page(session: Session, context: RequestContext, query: ListQuery) -> Sequence[Image]:
    """One page of the caller's records. Raises ImageRecordNotFound for a bad marker."""
    require_sortable(query, SORTABLE)
    marker = None if query.marker is None else get(session, context, query.marker)
    key = getattr(Image, query.sort_key)
    return session.scalars(paginate(_scoped(context), key, Image.id, marker, query)).all()


def request(
    session: Session, context: RequestContext, repo: str, tag: str, host: str, now: datetime.datetime
) -> Image:
    """Record a pull. A record whose pull never succeeded is taken over.

    Raises ImageAlreadyExists for an image that the node has.
    """
    existing = named(session, repo, tag, host)
    if existing is not None:
        if existing.image_id is not None:
            raise ImageAlreadyExists(repo, tag, host)
        existing.project_id, existing.user_id = context.project_id, context.user_id
        existing.updated_at = now
        session.flush()
        return existing
    image = Image(
        uuid=str(uuid.uuid4()),
        repo=repo,
        tag=tag,
        host=host,
        project_id=context.project_id,
        user_id=context.user_id,
        created_at=now,
    )
    session.add(image)
    try:
        session.flush()
    except db_exception.DBDuplicateEntry as exc:
        raise ImageAlreadyExists(repo, tag, host) from exc
    return image


def pulled(session: Session, image_uuid: str, image_id: str, size: int, now: datetime.datetime) -> None:
    """Record that the node has the image now."""
    session.execute(
        update(Image)
        .where(Image.uuid == image_uuid)
        .values(image_id=image_id, size=str(size), updated_at=now)
    )


def made(
    session: Session, image_uuid: str, container: Container, repo: str, tag: str, now: datetime.datetime
) -> Image:
    """Ensure there is a record of an image that was made of a container on its node.

    Of two that were made under one name at once, the later keeps the record of the earlier.
    """
    image = find(session, image_uuid) or named(session, repo, tag, container.host or "")
    if image is None:
        image = Image(
            uuid=image_uuid,
            repo=repo,
            tag=tag,
            host=container.host,
            project_id=container.project_id,
            user_id=container.user_id,
            created_at=now,
        )
        try:
            with session.begin_nested():
                session.add(image)
        except db_exception.DBDuplicateEntry:
            image = named(session, repo, tag, container.host or "")
            assert image is not None  # it is what the new one met
    return image


def committed(session: Session, project_id: str, host: str, domain: str) -> set[tuple[str, str]]:
    """Repository and tag of a project's images of `domain` on a node, and of those that commits will add."""
    there = select(Image.repo, Image.tag).where(
        Image.project_id == project_id, Image.host == host, Image.repo.startswith(f"{domain}/")
    )
    coming = (
        select(ContainerAction.arguments)
        .join(Container, Container.uuid == ContainerAction.container_uuid)
        .where(
            ContainerAction.host == host,
            actions.UNFINISHED,
            ContainerAction.action == "commit",
            Container.project_id == project_id,
        )
    )
    names = {(repo or "", tag or "") for repo, tag in session.execute(there)}
    # One of a Zun API process, which wants an image in Glance, fails and names none.
    return names | {
        (each["repository"], each["tag"]) for each in session.scalars(coming) if "repository" in each
    }


def unfinished(session: Session, host: str) -> Sequence[Image]:
    """Pulls asked of `host` that have not succeeded."""
    return session.scalars(select(Image).where(Image.host == host, Image.image_id.is_(None))).all()


def forget(session: Session, image_uuid: str) -> None:
    """Drop a record, if it is there."""
    image = find(session, image_uuid)
    if image is not None:
        session.delete(image)
