"""What a bot may be and use, over HTTP."""

from typing import Any

from api.blueprint import Blueprint
from api.context import arena
from api.schemas.limits import LimitsAnswer
from service import upload
from service.limits import RANGES, Limits

blp = Blueprint("limits", "What a bot may be and use")


@blp.get("/limits", LimitsAnswer, cached=True)
def show_limits() -> dict[str, Any]:
    """All limits"""
    return {
        "match": Limits().as_dict(),
        "ranges": {name: {"least": low, "most": high} for name, (low, high) in RANGES.items()},
        "upload_bytes": min(upload.PACKED, arena().settings.upload_bytes),
        "unpacked_bytes": upload.UNPACKED,
        "files": upload.FILES,
        "interpreters": ["python", *sorted(arena().settings.interpreters)],
    }
