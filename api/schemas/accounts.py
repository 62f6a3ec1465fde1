"""Shapes of accounts."""

from marshmallow import validate

from api.schemas.fields import Answer, Schema, Text, choice, moment, text
from service.accounts import Role

ROLES = [str(role) for role in Role]


class NewAccount(Schema):
    """What an account is made of."""

    name = Text(
        required=True,
        validate=validate.Length(max=200, error="must be at most 200 characters"),
        metadata={
            "description": "letters, digits, blanks and _ . + - between them; unique",
            "example": "ada",
        },
    )


class AccountAnswer(Answer):
    """An account."""

    id = text("opaque", "acc_k4m2xw9tq7bn")
    name = text("as it is shown", "ada")
    role = choice("an admin may do all", ROLES)
    created_at = moment("when it was made")


class NewToken(AccountAnswer):
    """A new account with its token."""

    token = text("shown only this once: keep it", "rage_9Kd0…")
