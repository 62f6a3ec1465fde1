"""What a database needs before anything is served from it: the schema, an administrator, the house bots."""

from sqlalchemy.exc import SQLAlchemyError

from service import accounts, schema
from service import house as house_bots
from service.checks import Unfit
from service.errors import ServiceError
from service.jobs import InlineQueue
from service.settings import Settings, hidden
from service.work import Arena


def prepare(settings: Settings, *, house: bool) -> str | None:
    """Everything in place, however often it is done; the token if this made the first administrator.

    Raises `Unfit`.
    """
    arena = Arena.open(settings, InlineQueue())  # house bots come ready, so there is nothing to send
    try:
        schema.migrate(settings)
        if house:
            house_bots.ensure(arena)
        return accounts.ensure_admin(arena)  # last: its token must not get lost over another's failure
    except (SQLAlchemyError, ServiceError) as error:
        reason = str(error.__cause__ or error).splitlines()[0]
        raise Unfit(
            f"The database {hidden(settings.database_url)} cannot be used: {reason}. See RAGE_DATABASE_URL."
        ) from error
    finally:
        arena.close()
