"""Bots and versions: uploaded, checked, looked at, retired."""

from typing import Any

import pytest

from engine.bots import NAMES
from service import accounts, bots, house, sources, trials
from service.accounts import Account
from service.errors import Conflict, Forbidden, Invalid, NotFound, TooLarge
from service.jobs import CHECK, InlineQueue, Job
from service.work import Arena

BOT = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"


def submit(arena: Arena, owner: Account, name: str = "first", **more: Any) -> bots.Bot:
    return bots.submit(arena, owner, name=name, filename="bot.py", content=BOT, **more)


def test_an_upload_is_to_be_checked(arena: Arena, author: Account) -> None:
    made = submit(arena, author)
    assert (made.status, made.version, made.owner) == ("checking", 1, "Ada")
    assert isinstance(arena.queue, InlineQueue)
    assert arena.queue.waiting == [Job(CHECK, (f"{made.id}:1",))]


def test_a_verdict_is_written_once_by_who_holds_the_check(
    arena: Arena, author: Account, clock: Any, pass_time: Any
) -> None:
    made = submit(arena, author)
    slow = trials.claim(arena, f"{made.id}:1")
    assert slow is not None
    assert trials.claim(arena, f"{made.id}:1") is None
    pass_time(arena.settings.lease_seconds)
    clock.turn(trials.AGAIN.total_seconds())
    quick = trials.claim(arena, f"{made.id}:1")
    assert quick is not None
    assert trials.record_check(arena, slow, ready=False, report={}) is False
    assert trials.record_check(arena, quick, ready=True, report={"ready": True}) is True
    assert trials.record_check(arena, quick, ready=False, report={}) is False
    assert bots.bot(arena, author, made.id).status == "ready"


def test_a_check_that_failed_by_our_fault_is_done_again(arena: Arena, author: Account, clock: Any) -> None:
    made = submit(arena, author)
    trial = trials.claim(arena, f"{made.id}:1")
    assert trial is not None
    trials.give_back(arena, trial, "no sandbox")
    assert bots.bot(arena, author, made.id).status == "checking"
    assert isinstance(arena.queue, InlineQueue)
    arena.queue.waiting.clear()
    clock.turn(60)
    with arena.work() as work:
        assert trials.resend(arena, work) == 1
        assert trials.resend(arena, work) == 1
    assert arena.queue.depth(CHECK) == 1
    assert trials.claim(arena, f"{made.id}:1") is not None


def test_one_check_of_an_owner_is_under_way_at_a_time_and_sends_the_next(
    arena: Arena, author: Account
) -> None:
    first, second = submit(arena, author, "a"), submit(arena, author, "b")
    other, _ = accounts.register(arena, name="Bob")
    foreign = submit(arena, other, "c")
    trial = trials.claim(arena, f"{first.id}:1")
    assert trial is not None
    assert trials.claim(arena, f"{second.id}:1") is None
    assert trials.claim(arena, f"{foreign.id}:1") is not None
    assert isinstance(arena.queue, InlineQueue)
    arena.queue.waiting.clear()
    trials.record_check(arena, trial, ready=True, report={})
    assert arena.queue.waiting == [Job(CHECK, (f"{second.id}:1",))]
    assert trials.claim(arena, f"{second.id}:1") is not None


def test_an_upload_keeps_its_name_without_its_folder(arena: Arena, author: Account) -> None:
    made = bots.submit(arena, author, name="x", filename="../../etc/bot.py", content=BOT)
    assert sources.code(arena, author, made.id, 1).filename == "bot.py"


def test_the_report_and_the_code_are_its_owners(arena: Arena, author: Account) -> None:
    made = submit(arena, author)
    trial = trials.claim(arena, f"{made.id}:1")
    assert trial is not None
    trials.record_check(arena, trial, ready=False, report={"stage": "start"})
    stranger, _ = accounts.register(arena, name="Mallory")
    assert bots.version(arena, author, made.id, 1).report == {"stage": "start"}
    assert sources.code(arena, author, made.id, 1).content == BOT
    for other in (stranger, None):
        assert bots.version(arena, other, made.id, 1).report is None
        with pytest.raises(NotFound):
            sources.code(arena, other, made.id, 1)


def test_public_source_is_everybodys(arena: Arena, author: Account) -> None:
    made = submit(arena, author, public_source=True)
    assert sources.code(arena, None, made.id, 1).content == BOT


def test_versions_count_up_and_only_the_owner_adds_them(arena: Arena, author: Account) -> None:
    made = submit(arena, author)
    assert bots.add_version(arena, author, made.id, filename="b.py", content=BOT).number == 2
    stranger, _ = accounts.register(arena, name="Mallory")
    with pytest.raises(Forbidden):
        bots.add_version(arena, stranger, made.id, filename="b.py", content=BOT)
    assert [each.number for each in bots.bot(arena, author, made.id).versions] == [2, 1]


def test_a_name_is_taken_once(arena: Arena, author: Account) -> None:
    submit(arena, author)
    with pytest.raises(Conflict, match="taken"):
        submit(arena, author, name="FIRST")
    assert len(bots.bots(arena).items) == 1


@pytest.mark.parametrize(
    ("filename", "content"),
    [("bot.exe", BOT), ("bot.py", b""), ("bot.py", b"\xff\xfe"), ("bot.zip", b"no zip")],
)
def test_what_is_no_bot_is_refused_and_nothing_kept(
    arena: Arena, author: Account, filename: str, content: bytes
) -> None:
    with pytest.raises(Invalid) as refused:
        bots.submit(arena, author, name="x", filename=filename, content=content)
    assert list(refused.value.errors) == ["code"]
    assert bots.bots(arena).items == []


def test_too_large_an_upload_is_refused(arena: Arena, author: Account) -> None:
    with pytest.raises(TooLarge):
        bots.submit(
            arena, author, name="x", filename="x.py", content=b"#" * (arena.settings.upload_bytes + 1)
        )


def test_a_retired_bot_takes_no_versions_and_retiring_again_does_no_harm(
    arena: Arena, author: Account
) -> None:
    made = submit(arena, author)
    bots.retire(arena, author, made.id)
    bots.retire(arena, author, made.id)
    assert bots.bot(arena, author, made.id).status == "retired"
    with pytest.raises(Conflict):
        bots.add_version(arena, author, made.id, filename="b.py", content=BOT)


def test_pages_hold_each_bot_once_though_others_come_in(arena: Arena, author: Account, clock: Any) -> None:
    names = [f"bot {number}" for number in range(7)]
    for name in names:
        clock.turn(1)
        submit(arena, author, name)
    seen, cursor = [], None
    while True:
        page = bots.bots(arena, limit=3, cursor=cursor)
        seen += [each.name for each in page.items]
        clock.turn(1)
        submit(arena, author, f"late {len(seen)}")
        if (cursor := page.next) is None:
            break
    assert seen == names[::-1]


@pytest.mark.parametrize(
    "cursor", ["x", "W10", "bnVsbA", "WzEsMl0", "W3RydWUsICJhIl0", "WzFlOTk5LCAiYSJd", "WzEsICJcdTAwMDAiXQ"]
)
def test_a_cursor_we_never_gave_is_refused(arena: Arena, cursor: str) -> None:
    with pytest.raises(Invalid) as refused:
        bots.bots(arena, cursor=cursor)
    assert list(refused.value.errors) == ["cursor"]


def test_a_house_bot_whose_name_is_taken_gets_another(arena: Arena, author: Account) -> None:
    submit(arena, author, "random")
    house.ensure(arena)
    house.ensure(arena)
    assert {each.name for each in bots.bots(arena, owner="house").items} == {
        "house random" if name == "random" else name for name in NAMES
    }


def test_the_house_bots_are_installed_once_and_ready(arena: Arena) -> None:
    house.ensure(arena)
    house.ensure(arena)
    found = bots.bots(arena, status="ready").items
    assert sorted(each.name for each in found) == sorted(NAMES)
    assert {(each.version, each.house, each.owner) for each in found} == {(1, True, "house")}
