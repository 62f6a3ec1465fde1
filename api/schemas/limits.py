"""Shapes of limits."""

from api.schemas.fields import Answer, free, texts, whole
from service import upload
from service.limits import Limits


class LimitsAnswer(Answer):
    """What a bot may be and use here."""

    match = free("in a match, unless its tournament sets others; ms and MiB", Limits().as_dict())
    ranges = free("what a tournament may set", {"decision_ms": {"least": 500, "most": 10000}})
    upload_bytes = whole("largest upload", upload.PACKED)
    unpacked_bytes = whole("most an archive may hold", upload.UNPACKED)
    files = whole("most files of an archive", upload.FILES)
    interpreters = texts("what `run` in an archive's bot.toml may begin with", ("python", "bash", "node"))
