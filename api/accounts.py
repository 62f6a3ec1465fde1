"""Accounts over HTTP."""

from typing import Any

from api.blueprint import Blueprint
from api.context import account, arena, caller
from api.schemas.accounts import (
    AccountAnswer,
    IssuedTokenAnswer,
    MadeAccountAnswer,
    MeAnswer,
    NewAccount,
    TokenRequest,
    TokensAnswer,
)
from service import accounts as verbs
from service import tokens
from service.accounts import Account

blp = Blueprint("accounts", "Who may write")


@blp.post("/accounts", MadeAccountAnswer, status=201, body=NewAccount, open_to_all=True)
def register(body: dict[str, Any]) -> dict[str, Any]:
    """Make an account

    Its token is shown this once. An operator can close this to strangers.
    """
    made, token = verbs.register(arena(), by=caller(), **body)
    return {**{name: getattr(made, name) for name in AccountAnswer().fields}, "token": token}


@blp.get("/accounts/me", MeAnswer, signed=True)
def whoami() -> Account:
    """Whose token this is, and what it is for"""
    return account()


@blp.get("/accounts/me/tokens", TokensAnswer, signed=True)
def list_tokens() -> dict[str, Any]:
    """Your valid tokens, without their secrets"""
    return {"items": tokens.tokens(arena(), account()), "next": None}


@blp.post("/accounts/me/tokens", IssuedTokenAnswer, status=201, body=TokenRequest)
def issue(body: dict[str, Any]) -> dict[str, Any]:
    """Make a further token, for one purpose alone

    It may be for no more than the token you ask with, and is shown this once.
    """
    made, secret = tokens.issue(arena(), account(), **body)
    return {"id": made.id, "label": made.label, "scopes": made.scopes, "created_at": made.created_at,
            "last_used_at": None, "made_with": made.made_with, "token": secret}  # fmt: skip


@blp.delete("/accounts/me/tokens/<id:token_id>")
def revoke(token_id: str) -> None:
    """Make a token invalid, for good

    And with it all tokens that were made with it, but the one you ask with.
    """
    tokens.revoke(arena(), account(), token_id)
