"""How a refusal looks."""

from marshmallow import fields

from api.schemas.fields import Answer, text, whole


class Problem(Answer):
    """RFC 9457: what was refused and why."""

    type = text("always about:blank: the status says it", "about:blank")
    title = text("the status in words", "Unprocessable Entity")
    status = whole("the HTTP status", 422)
    detail = text("what happened, for a person", "Some fields are wrong; see errors.")
    errors = fields.Dict(
        keys=fields.String(),
        values=fields.List(fields.String()),
        metadata={
            "description": "for bad input: the path of each field, what is wrong and what would be right",
            "example": {"players": ["must be a whole number from 2 to 11"]},
        },
    )
