"""The cloud's own row."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from tierce.db.tables import Cloud


def ident(session: Session) -> str:
    """The uuid of the cloud: the same for all its programs, another for every other cloud."""
    return session.execute(select(Cloud.uuid)).scalar_one()
