"""Names people give, and the ids we give."""

import re
import secrets
import unicodedata

from service.alphabets import CAPITALS, MOST_MARKS, UNSEEN, looks_like, mixed, unmarked
from service.errors import Invalid

LONGEST = 40
ALLOWED = re.compile(r"\w(?:[\w .+-]*\w)?")
UNFIT = re.compile("[\0\ud800-\udfff]")  # letters that no database takes, and no name has
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


def new_id(prefix: str) -> str:
    """An opaque id that nobody can guess or mistype: `prefix_` and twelve letters and digits."""
    return prefix + "_" + "".join(secrets.choice(ALPHABET) for _ in range(12))


def name(field: str, value: str) -> str:
    """A name fit to be shown and told apart; raises `Invalid` for `field`."""
    clean = unicodedata.normalize("NFC", value)
    long, bare = len(clean) > LONGEST or len(key(clean)) > 2 * LONGEST, unmarked(clean)
    if bare is None:
        why = f"has marks where none belong; at most {MOST_MARKS} stand on a letter of their own alphabet"
        raise Invalid({field: [why]})
    if long or not ALLOWED.fullmatch(bare) or not {*UNSEEN}.isdisjoint(clean):
        raise Invalid(
            {
                field: [
                    f"must be 1 to {LONGEST} letters, digits, blanks or _ . + - between them, "
                    "and begin and end with a letter, digit or _"
                ]
            }
        )
    if parts := mixed(clean):
        why = f"mixes {' and '.join(parts)} letters, which can look alike; use those of one alphabet"
        raise Invalid({field: [why]})
    return clean


def key(value: str) -> str:
    """What makes two names the same: their letters without case or look-alike forms, whatever alphabet."""
    return looks_like(exact(value))


def exact(value: str) -> str:
    """A name's letters without case, of whichever alphabet they are; fit to be looked for in any database."""
    return UNFIT.sub("\ufffd", unicodedata.normalize("NFKC", value).casefold())


def shape(value: str) -> str:
    """The same for names that look alike in the very capitals and small letters they are written in."""
    return key(unicodedata.normalize("NFKC", value).translate(CAPITALS))


def taken(value: str) -> str:
    """What to say to who wants a name that another has."""
    return f"the name {value} is taken, or looks like one that is; choose another"


def line(field: str, value: str, longest: int) -> str:
    """One line of text a person wrote, without control characters; raises `Invalid` for `field`."""
    clean = value.strip()
    if not 1 <= len(clean) <= longest or not clean.isprintable():
        raise Invalid({field: [f"must be one line of 1 to {longest} printable characters"]})
    return clean


def prose(field: str, value: str, longest: int) -> str:
    """Some lines of text; raises `Invalid` for `field`."""
    if len(value) > longest or not all(letter.isprintable() or letter in "\n\t" for letter in value):
        raise Invalid({field: [f"must be at most {longest} printable characters"]})
    return value
