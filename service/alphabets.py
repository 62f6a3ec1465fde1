"""Which alphabet a letter is of, and which letters of others look like Latin ones.

After Unicode's report 39 on spoofing: no name mixes alphabets, and names that look alike are the same name.
"""

import unicodedata
from collections.abc import Iterator

EAST_ASIAN = frozenset(
    {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"}
)
# Letters without case (Cyrillic, Greek, Armenian, further Latin), over the Latin ones they look like.
LOOKS_LIKE = str.maketrans(
    "авекмнорстухѕіјһԁԛԝӏѵгьҽӕ" + "αβγεζηικμνορτυχω" + "աոսօցհյ" + "ɑɡıɩʏ",
    "abekmhopctyxsijhdqwlvrbeæ" + "abyezhikmvoptuxw" + "wnuoghj" + "agiiy",
)


def alphabets(text: str) -> set[str]:
    """The alphabets that the letters of a text are of, as Unicode calls them; what has none is of all."""
    found = set(_of_letters(text))
    return {"EAST ASIAN"} if found and found <= EAST_ASIAN else found


def looks_like(folded: str) -> str:
    """The same for all texts that look alike; of a text without case."""
    return folded.translate(LOOKS_LIKE)


def _of_letters(text: str) -> Iterator[str]:
    for letter in unicodedata.normalize("NFKC", text):
        if letter.isalpha():
            yield unicodedata.name(letter, "UNNAMED").split(" ")[0]
