"""Which alphabets a name mixes, and which letters look like others.

After Unicode's report 39 on spoofing, "highly restrictive": no name mixes alphabets, but for Latin letters
beside those of East Asia; names that look alike are the same name.
"""

import unicodedata
from collections.abc import Iterator

EAST_ASIAN = frozenset(
    {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"}
)
CHINESE_JAPANESE_KOREAN = "Chinese, Japanese or Korean"
OF_ALL = "MODIFIER"  # such as the \u02bb of Hawai\u02bbi
UNSEEN = "\u115f\u1160\u3164\uffa0"  # letters of Korean that nobody sees
# Letters without case: Cyrillic, Greek, Armenian and further Latin ones, over the Latin they look like;
# then those of East Asia, and apostrophes that are letters.
LOOKS_LIKE = str.maketrans(
    "авекмнорстухѕіјһԁԛԝӏѵгьҽӕαβγεζηικμνορτυχωաոսօցհյɑɡıɩʏ〇ᄋᆼ丨ᅵーᅳニハヘベペトタカロエノʹʻʽʾʿˈ",
    "abekmhopctyxsijhdqwlvrbeæabyezhikmvoptuxwwnuoghjagiiyoooll一一二八へべぺ卜夕力口工丿ʼʼʼʼʼʼ",
    UNSEEN,
)
# Greek capitals that look like another Latin letter than their small ones do.
CAPITALS = str.maketrans("ΝΥ", "NY")


def mixed(text: str) -> list[str]:
    """The alphabets that a text mixes and must not, in words; none if it is fit to be read."""
    found = set(_of_letters(text))
    return sorted(found) if len(found) > 1 and found != {"Latin", CHINESE_JAPANESE_KOREAN} else []


def looks_like(folded: str) -> str:
    """The same for all texts that look alike; of a text without case."""
    return folded.translate(LOOKS_LIKE)


def _of_letters(text: str) -> Iterator[str]:
    for letter in unicodedata.normalize("NFKC", text):
        alphabet = unicodedata.name(letter, "UNNAMED").split(" ")[0]
        if letter.isalpha() and alphabet != OF_ALL:
            yield CHINESE_JAPANESE_KOREAN if alphabet in EAST_ASIAN else alphabet.capitalize()
