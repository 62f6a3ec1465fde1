"""What a verb may refuse. The API turns each into a status; nothing else raises on purpose."""

from collections.abc import Mapping, Sequence


class ServiceError(Exception):
    """Root of every refusal; its text is fit to be shown to the caller."""


class NotFound(ServiceError):
    """There is no such thing, or the caller may not know that there is."""


class Conflict(ServiceError):
    """The request makes no sense in the present state of what it names."""


class Gone(ServiceError):
    """It was there and was moved away; the text says where to."""


class Unauthorized(ServiceError):
    """No token, or one that is not (or no longer) valid."""


class Forbidden(ServiceError):
    """The caller is known but may not do this."""


class TooLarge(ServiceError):
    """An upload beyond its limit."""


class TooMany(ServiceError):
    """A quota is used up; `retry_after` in seconds."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(ServiceError):
    """The database or the broker is away; the same request may be sent again."""


class Invalid(ServiceError):
    """Bad input: field path -> what is wrong and what would be right, every field at once."""

    def __init__(self, errors: Mapping[str, Sequence[str]]) -> None:
        self.errors = {field: list(reasons) for field, reasons in errors.items()}
        super().__init__("; ".join(f"{field}: {' '.join(reasons)}" for field, reasons in self.errors.items()))
