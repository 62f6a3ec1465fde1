"""What a client of the HTTP API may raise. Imports next to nothing, so that naming it costs nothing."""

from collections.abc import Mapping


class ClientError(Exception):
    """Root of what a call may raise; its text is fit to be shown."""


class Unreachable(ClientError):
    """No answer came."""


class TookTooLong(ClientError):
    """What was waited for did not happen in time."""


class ProblemError(ClientError):
    """The server refused; `errors` names fields and what is wrong with them."""

    def __init__(self, status: int, title: str, detail: str, errors: Mapping[str, list[str]]) -> None:
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = errors
        fields = [f"{name}: {'; '.join(reasons)}" for name, reasons in errors.items()]
        super().__init__("\n".join(fields) or detail or f"{status} {title}")
