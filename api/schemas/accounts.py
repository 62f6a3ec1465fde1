"""Shapes of accounts."""

from marshmallow import validate

from api.schemas.fields import Answer, Choices, Schema, Text, choice, moment, page_of, text, texts
from service.accounts import Role, Scope

ROLES = [str(role) for role in Role]


class NewAccount(Schema):
    """What an account is made of."""

    name = Text(
        required=True,
        validate=validate.Length(max=200, error="must be at most 200 characters"),
        metadata={
            "description": "letters of one alphabet, digits, blanks and _ . + - between them; unique",
            "example": "ada",
        },
    )


class AccountAnswer(Answer):
    """An account."""

    id = text("opaque", "acc_k4m2xw9tq7bn")
    name = text("as it is shown", "ada")
    role = choice("an admin may do all", ROLES)
    created_at = moment("when it was made")


SCOPES = [str(scope) for scope in Scope]
MEANING = "author: bots, their code and faults; organiser: tournaments; admin: what others own"


class MadeAccountAnswer(AccountAnswer):
    """A new account with its token."""

    token = text("shown only this once: keep it", "rage_9Kd0…")


class MeAnswer(AccountAnswer):
    """Who asks."""

    scopes = texts("what the token is for", SCOPES[:2])


class TokenRequest(Schema):
    """What a further token shall be."""

    label = Text(
        required=True,
        validate=validate.Length(max=200, error="must be at most 200 characters"),
        metadata={"description": "for you to know it by", "example": "uploads from the build"},
    )
    scopes = Choices(SCOPES, required=True, metadata={"description": MEANING, "example": SCOPES[:1]})


class TokenAnswer(Answer):
    """A token, without its secret."""

    id = text("opaque", "tok_k4m2xw9tq7bn")
    label = text("as it was named", "uploads from the build")
    scopes = texts(MEANING, SCOPES[:1])
    created_at = moment("when it was made")
    last_used_at = moment("when it was last used, to the minute", null=True)
    made_with = text("the id of the token it was made with: if that is revoked, so is this", None, null=True)


class IssuedTokenAnswer(TokenAnswer):
    """A new token."""

    token = text("shown only this once: keep it", "rage_9Kd0…")


TokensAnswer = page_of(TokenAnswer)
