"""What goes over the wire squeezed, for those who take it so."""

import gzip
from functools import lru_cache

from flask import Request, Response

KINDS = ("text/html", "text/css", "text/javascript", "text/csv", "application/json", "image/svg+xml")
WORTH_IT = 1000  # bytes; less is not worth squeezing
REMEMBERED = 256 << 10


def squeeze(content: bytes) -> bytes:
    """The same bytes for the same content. What many ask for is remembered, up to `REMEMBERED` bytes each."""
    return _remembered(content) if len(content) <= REMEMBERED else _squeeze(content)


def _squeeze(content: bytes) -> bytes:
    return gzip.compress(content, 5, mtime=0)


# Squeezing takes longer than looking; at most 128 times REMEMBERED, and what it is squeezed to.
_remembered = lru_cache(maxsize=128)(_squeeze)


def squeezed(answer: Response, request: Request, *, private: bool) -> Response:
    """A whole answer, squeezed if the reader takes that.

    Not what is `private`: who can have something of theirs put beside a secret could guess it by the length.
    """
    if answer.is_streamed or answer.mimetype not in KINDS:
        return answer
    answer.vary.add("Accept-Encoding")
    wanted = request.method == "GET" and request.accept_encodings["gzip"] > 0 and not private
    if not wanted or answer.status_code != 200 or "Content-Encoding" in answer.headers:
        return answer
    content = answer.get_data()
    if len(content) > WORTH_IT:
        answer.set_data(squeeze(content))
        answer.headers["Content-Encoding"] = "gzip"
        if tag := answer.get_etag()[0]:
            answer.set_etag(tag, weak=True)  # the same in content only
    return answer
