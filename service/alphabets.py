"""Which alphabets a name mixes, and which letters look like others.

After Unicode's report 39 on spoofing, "highly restrictive": no name mixes alphabets, but for Latin letters
beside those of East Asia; names that look alike are the same name. Marks are for alphabets that spell vowels
and tones with them, on their own letters, and few: all others write names in whole letters.
"""

import unicodedata
from collections.abc import Iterator
from itertools import groupby

EAST_ASIAN = frozenset(
    {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"}
)
CHINESE_JAPANESE_KOREAN = "Chinese, Japanese or Korean"
MARKED = frozenset(
    {"DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU", "KANNADA", "MALAYALAM"}
    | {"SINHALA", "THAI", "LAO"}
)
FIRST, LAST = "\u0900", "\u0eff"  # their blocks
MOST_MARKS = 3  # on one letter, as in \u091c\u093c\u093f\u0902
VIRAMA = 9  # the combining class of what takes a consonant's vowel away
STRAY = (
    "LENGTH MARK",
    "STRESS",
    "ACCENT",
    "OVERLINE",
)  # marks that names do without, and that look like letters
# Vowels that are letters, at the same places in all of India's alphabets: one with a sign, or after a virama,
# looks like another of them (The Unicode Standard, chapter 12).
VOWELS = frozenset(
    {chr(block + at) for block in range(0x900, 0xD80, 0x80) for at in (*range(0x04, 0x15), 0x60, 0x61)}
    | {chr(code) for code in (0xA72, 0xA73, *range(0x972, 0x978), *range(0xD85, 0xD97))}
)
OF_ALL = "MODIFIER"  # such as the \u02bb of Hawai\u02bbi
UNSEEN = "\u115f\u1160\u3164\uffa0"  # letters of Korean that nobody sees
# Letters without case: Cyrillic, Greek, Armenian and further Latin ones, over the Latin they look like;
# then those of East Asia, and apostrophes that are letters.
LOOKS_LIKE = str.maketrans(
    "авекмнорстухѕіјһԁԛԝӏѵгьҽӕαβγεζηικμνορτυχωաոսօցհյɑɡıɩʏ〇ᄋᆼ丨ᅵーᅳニハヘベペトタカロエノʹʻʽʾʿˈ",
    "abekmhopctyxsijhdqwlvrbeæabyezhikmvoptuxwwnuoghjagiiyoooll一一二八へべぺ卜夕力口工丿ʼʼʼʼʼʼ",
    UNSEEN,
)
# Marks that look like two.
TWO = str.maketrans({"\u0e36": "\u0e34\u0e4d", "\u0eb6": "\u0eb4\u0ecd", "\u0bcc": "\u0bc6\u0bb3"})
# Letters that look like one: Thai and Lao vowels before a consonant, a Tamil vowel.
ONE = {"\u0e40\u0e40": "\u0e41", "\u0ec0\u0ec0": "\u0ec1", "\u0b92\u0bb3": "\u0b94"}
# Greek capitals that look like another Latin letter than their small ones do.
CAPITALS = str.maketrans("ΝΥ", "NY")


def mixed(text: str) -> list[str]:
    """The alphabets that a text mixes and must not, in words; none if it is fit to be read."""
    found = set(_of_letters(text))
    return sorted(found) if len(found) > 1 and found != {"Latin", CHINESE_JAPANESE_KOREAN} else []


def looks_like(folded: str) -> str:
    """The same for all texts that look alike; of a text without case. The order of marks does not show."""
    seen = folded.translate(LOOKS_LIKE).translate(TWO)
    for several, one in ONE.items():
        seen = seen.replace(several, one)
    runs = groupby(seen, key=_is_mark)
    return "".join("".join(sorted(run) if marks else run) for marks, run in runs)


def unmarked(text: str) -> str | None:
    """A text without its marks; None where one of them hides, doubles or makes up what is seen."""
    bare, run = "", ""
    for each in text:
        if _is_mark(each):
            run += each
            if not bare or not _fits(bare[-1], run):
                return None
        elif run and each in VOWELS and unicodedata.combining(run[-1]) == VIRAMA:
            return None
        else:
            bare, run = bare + each, ""
    return bare


def _is_mark(letter: str) -> bool:
    return FIRST <= letter <= LAST and unicodedata.category(letter) in ("Mn", "Mc")


def _fits(letter: str, run: str) -> bool:
    """Whether the last of these marks on a letter belongs there."""
    name, alphabet = unicodedata.name(run[-1], ""), _alphabet(run[-1])
    on_vowel = letter in VOWELS and ("VOWEL SIGN" in name or unicodedata.combining(run[-1]) == VIRAMA)
    own = letter.isalpha() and alphabet == _alphabet(letter) and alphabet in MARKED
    few = len(run) == len(set(run)) <= MOST_MARKS
    return own and few and not on_vowel and not any(word in name for word in STRAY)


def _alphabet(letter: str) -> str:
    name = unicodedata.name(letter, "UNNAMED").removeprefix("EXTENDED ")  # Arabic digits, of Persian
    return name.split(" ")[0].removesuffix("-INDIC")


def _of_letters(text: str) -> Iterator[str]:
    """The alphabets of letters, and of digits that are not everybody's: a Bengali nought looks like an o."""
    for letter in unicodedata.normalize("NFKC", text):
        alphabet = _alphabet(letter)
        told = letter.isalpha() or (letter.isdecimal() and not letter.isascii())
        if told and alphabet != OF_ALL:
            yield CHINESE_JAPANESE_KOREAN if alphabet in EAST_ASIAN else alphabet.capitalize()
