"""Accounts and tokens."""

import pytest
from sqlalchemy import select, update

from service import accounts, bots, tables, tokens
from service.accounts import Role
from service.errors import Conflict, Forbidden, Invalid, NotFound, Unauthorized
from service.settings import Settings
from service.work import Arena


def test_a_token_is_whose_it_was_given_to(arena: Arena) -> None:
    made, token = accounts.register(arena, name="Ada")
    assert accounts.authenticate(arena, token) == made


def test_the_database_holds_no_token(arena: Arena) -> None:
    _, token = accounts.register(arena, name="Ada")
    with arena.read() as db:
        rows = db.execute(select(tables.token)).all()
    assert len(rows) == 1
    assert token not in str(rows) and token.removeprefix("rage_") not in str(rows)


@pytest.mark.parametrize("wrong", ["", "rage_", "rage_" + "x" * 43, "' OR 1=1 --"])
def test_a_wrong_token_is_refused(arena: Arena, wrong: str) -> None:
    accounts.register(arena, name="Ada")
    with pytest.raises(Unauthorized):
        accounts.authenticate(arena, wrong)


def test_a_revoked_token_is_refused_and_a_renewed_one_taken(arena: Arena) -> None:
    made, token = accounts.register(arena, name="Ada")
    assert accounts.revoke(arena, name="ada") == 1
    with pytest.raises(Unauthorized):
        accounts.authenticate(arena, token)
    assert accounts.authenticate(arena, accounts.renew(arena, name="Ada")) == made
    with pytest.raises(NotFound):
        accounts.revoke(arena, name="nobody")


def test_what_a_revoked_token_asked_for_just_before_is_refused(arena: Arena) -> None:
    owner = accounts.authenticate(arena, accounts.register(arena, name="Ada")[1])
    _, secret = tokens.issue(arena, owner, label="lost", scopes=["author"])
    thief = accounts.authenticate(arena, secret)
    tokens.revoke(arena, owner, str(thief.token_id))
    with pytest.raises(Unauthorized, match="was revoked"):
        tokens.issue(arena, thief, label="child", scopes=["author"])
    assert len(tokens.tokens(arena, owner)) == 1


def alike(arena: Arena) -> list[tuple[accounts.Account, str]]:
    """Two accounts of before, when their names were not the same yet: the second keeps its key."""
    made = [accounts.register(arena, name=name) for name in ("Coba", "else")]
    later = {"name": "\u0421\u043e\u0432\u0430", "name_key": "\u0441\u043e\u0432\u0430"}
    with arena.work() as work:
        row = tables.account.c.id == made[1][0].id
        work.db.execute(update(tables.account).where(row).values(later))
    return made


def test_of_names_that_looked_alike_before_each_is_itself(arena: Arena) -> None:
    (first, first_token), (second, second_token) = alike(arena)
    both = ((first, first_token, "Coba"), (second, second_token, "\u0421\u043e\u0432\u0430"))
    for account, token, name in both:
        assert accounts.authenticate(arena, accounts.renew(arena, name=name)).id == account.id
        author = accounts.authenticate(arena, token)
        bots.submit(arena, author, name=f"of {author.id}", filename="bot.py", content=b"def bid(v): ...")
        assert [each.owner_id for each in bots.bots(arena, owner=name).items] == [account.id]
    assert accounts.revoke(arena, name="\u0441\u043e\u0432a") == 2, "what is neither is the one it looks like"


@pytest.mark.parametrize(
    "same",
    ["Ada", "ADA", "\N{FULLWIDTH LATIN CAPITAL LETTER A}da", "\u0430\u0501\u0430", "\u0251d\u0251"],
    ids=ascii,
)
def test_a_name_that_looks_taken_is_taken(arena: Arena, same: str) -> None:
    accounts.register(arena, name="Ada")
    with pytest.raises(Conflict):
        accounts.register(arena, name=same)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("NOOB", "\u039d\u039f\u039f\u0392"),
        ("\u039d\u039f\u039f\u0392", "noob"),
        ("\u039d\u039f\u039f\u0392", "\u03bd\u03bf\u03bf\u03b2"),
        ("\u03bd\u03bf\u03bf\u03b2", "voob"),
        ("YOY", "\u03a5\u039f\u03a5"),
        ("\u03a5\u039f\u03a5", "Yoy"),
        ("bot", "b\u3007t"),
        ("ロボット", "口ボット"),
        ("Hawai\u02bbi", "Hawai\u02bci"),
    ],
    ids=ascii,
)
def test_letters_look_as_they_are_written(arena: Arena, name: str, same: str) -> None:
    author, _ = accounts.register(arena, name=name)
    with pytest.raises(Conflict):
        accounts.register(arena, name=same)
    bots.submit(arena, author, name=name, filename="bot.py", content=b"def bid(v): ...")
    with pytest.raises(Conflict):
        bots.submit(arena, author, name=same, filename="bot.py", content=b"def bid(v): ...")


def test_letters_that_differ_make_names_that_differ(arena: Arena) -> None:
    for name in ("Ana", "Ava", "Yes", "Ues", "\u039d\u03af\u03ba\u03bf\u03c2"):
        accounts.register(arena, name=name)


@pytest.mark.parametrize(
    "name", ["", " ", "a" * 41, "a\nb", "<b>", "-a", "a ", "\u202eada", "a/b", "\ufdfa" * 23, "ada\u3164"]
)
def test_an_impossible_name_is_refused_by_field(arena: Arena, name: str) -> None:
    with pytest.raises(Invalid) as refused:
        accounts.register(arena, name=name)
    assert list(refused.value.errors) == ["name"]


@pytest.mark.parametrize("name", ["a\u0434a", "\u03b1da", "ada\u05d0", "\u03b2-bot", "東京\u0434"], ids=ascii)
def test_a_name_is_of_one_alphabet(arena: Arena, name: str) -> None:
    with pytest.raises(Invalid) as refused:
        accounts.register(arena, name=name)
    (told,) = refused.value.errors["name"]
    assert told.startswith("mixes ") and "use those of one alphabet" in told and "Cjk" not in told


@pytest.mark.parametrize(
    "name",
    [
        "\u0410\u0434\u0430 2",
        "\u6771\u4eac\u306e\u30cf\u30c8",
        "\u05d0\u05d3\u05d4",
        "zo\u00eb_9",
        "東京bot",
        "ロボットAI",
        "가나bot",
        "Hawai\u02bbi",
    ],
    ids=ascii,
)
def test_every_alphabet_makes_names(arena: Arena, name: str) -> None:
    assert accounts.register(arena, name=name)[0].name == name


@pytest.mark.parametrize("name", ["house", "Admin"])
def test_our_own_accounts_names_are_not_given_away(arena: Arena, name: str) -> None:
    with pytest.raises(Conflict):
        accounts.register(arena, name=name)
    assert accounts.ensure_admin(arena) is not None


def test_only_an_admin_makes_admins(arena: Arena) -> None:
    with pytest.raises(Forbidden):
        accounts.register(arena, name="Eve", role=Role.ADMIN)
    token = accounts.ensure_admin(arena)
    assert token is not None
    admin = accounts.authenticate(arena, token)
    assert accounts.register(arena, name="Bob", role=Role.ADMIN, by=admin)[0].admin


def test_the_first_admin_is_made_once(arena: Arena) -> None:
    assert accounts.ensure_admin(arena) is not None
    assert accounts.ensure_admin(arena) is None


def test_closed_registration_is_open_to_an_admin_only(arena: Arena) -> None:
    settings = Settings.from_environment({**arena.settings.environment(), "RAGE_OPEN_REGISTRATION": "false"})
    closed = Arena.open(settings, arena.queue)
    with pytest.raises(Forbidden):
        accounts.register(closed, name="Eve")
    token = accounts.ensure_admin(closed)
    assert token is not None
    admin = accounts.authenticate(closed, token)
    assert accounts.register(closed, name="Eve", by=admin)[0].name == "Eve"
    closed.close()
