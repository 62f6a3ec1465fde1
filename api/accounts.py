"""Accounts over HTTP."""

from typing import Any

from api.blueprint import Blueprint
from api.context import account, arena, caller
from api.schemas.accounts import AccountAnswer, NewAccount, NewToken
from service import accounts as verbs
from service.accounts import Account

blp = Blueprint("accounts", "Who may write")


@blp.post("/accounts", NewToken, status=201, body=NewAccount, open_to_all=True)
def register(body: dict[str, Any]) -> dict[str, Any]:
    """Make an account

    Its token is shown this once. An operator can close this to strangers.
    """
    made, token = verbs.register(arena(), by=caller(), **body)
    return {**{name: getattr(made, name) for name in AccountAnswer().fields}, "token": token}


@blp.get("/accounts/me", AccountAnswer, signed=True)
def whoami() -> Account:
    """Whose token this is"""
    return account()
