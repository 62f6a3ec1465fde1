"""Letters with marks: names of India, Thailand and beside as they are written, and nothing piled up."""

import unicodedata

import pytest

from service import names
from service.alphabets import MARKED, MOST_MARKS
from service.errors import Invalid

REAL = {
    "Hindi": ("हिन्दी", "अंकित", "ज़िंदगी", "श्रीकृष्ण 2", "क़ैसर", "आँचल", "ऋषि"),
    "Thai": ("สมชาย", "น้ำผึ้ง", "กล้วยไม้", "ที่รัก", "ผู้ใหญ่", "บอท 9"),
    "others": ("বাংলা", "ਪੰਜਾਬੀ", "ગુજરાતી", "ଓଡ଼ିଆ", "தமிழ்", "తెలుగు", "ಕನ್ನಡ", "മലയാളം", "සිංහල", "ຂ້ອຍ"),
}


@pytest.mark.parametrize("name", [name for listed in REAL.values() for name in listed], ids=ascii)
def test_names_are_written_with_the_marks_of_their_alphabet(name: str) -> None:
    assert names.name("name", name) == unicodedata.normalize("NFC", name)


@pytest.mark.parametrize(
    "name",
    [
        "z\u0334\u0321a\u0353lgo",
        "a\u0301\u0301",
        "ก" + "\u0e34\u0e35\u0e48\u0e49",
        "क" + "\u093e\u0902\u0901\u0903",
        "ก\u0e48\u0e48",
        "क\u0e48",
        "ก\u0301",
        "a\u0e48",
        "1\u0e48",
        "\u0e48ก",
        "ก \u0e48",
        "\u0905\u093e",
        "\u0905\u094d",
        "\u0930\u094d\u0907",
        "\u0a72\u0a40",
        "\u0a73\u0a41",
        "ப\u0bd7",
        "क\u0951",
        "\u1780\u17b4",
        "\u1820\u180b",
        "म\u200dद",
        "\u0645\u064e",
    ],
    ids=ascii,
)
def test_marks_that_pile_up_or_belong_elsewhere_make_no_name(name: str) -> None:
    with pytest.raises(Invalid) as refused:
        names.name("name", name)
    assert list(refused.value.errors) == ["name"]


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("น้ำ", "นํ้า"),
        ("ที่", "ท่ี"),
        ("ตึก", "ตํิก"),
        ("คำ", "คํา"),
        ("கௌ", "கெள"),
        ("क़ि", "कि़"),
        ("\u0958\u0938", "क\u093cस"),
        ("แมว", "เเมว"),
        ("ແມວ", "ເເມວ"),
        ("ஔவை", "ஒளவை"),
    ],
    ids=ascii,
)
def test_marks_that_show_alike_make_the_same_name(name: str, same: str) -> None:
    assert names.key(names.name("name", name)) == names.key(names.name("name", same))
    assert names.shape(name) == names.shape(same)


def test_marks_that_differ_make_names_that_differ() -> None:
    told = ["ปา", "ป่า", "ป้า", "ป๊า", "ป๋า", "की", "कि", "कीं", "क", "ख"]
    assert len({names.key(names.name("name", name)) for name in told}) == len(told)


@pytest.mark.parametrize("name", ["b\u09e6t", "b\u0e50t", "b\u06f5t", "bot \u09ea", "\u0e50\u09ea"])
def test_digits_are_everybodys_or_those_of_the_names_own_alphabet(name: str) -> None:
    with pytest.raises(Invalid, match="mixes"):
        names.name("name", name)
    for own in ("bot 4", "বট \u09ea", "বট 4", "บอท ๙", "بوت ٤", "ربات ۴"):
        assert names.name("name", own) == own


def test_no_letter_of_any_alphabet_bears_more_than_a_few_marks() -> None:
    every = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in ("Mn", "Mc", "Me")]
    assert len(every) > 2000
    for mark in every:
        alphabet = unicodedata.name(mark, "").split(" ")[0]
        for text in (f"a{mark}", f"ก{mark}", f"क{mark}", f"{mark}a"):
            own = alphabet in MARKED and unicodedata.name(text[0]).startswith(alphabet)
            if own or len(unicodedata.normalize("NFC", text)) == 1:
                continue
            with pytest.raises(Invalid):
                names.name("name", text)
    assert MOST_MARKS == 3


def test_a_letter_without_marks_has_the_key_it_had() -> None:
    for told in ("\u0390", "\u0e04\u0e33", "\u0130x", "Ana", "東京"):
        assert names.key(told) == names.exact(told).translate({ord("\u03b9"): "i", ord("\u0391"): "a"})
