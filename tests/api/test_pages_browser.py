"""The pages in a real browser, with real matches: what they show, how they look, what they weigh."""

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from werkzeug.serving import WSGIRequestHandler, make_server

import engine.bots.cautious
import engine.bots.counter
import engine.bots.random
from api.app import create_app
from engine.rules import RuleSet
from engine.table import FaultKind, LocalPlayer, PlayerFault, Question, play
from loadtests import singly
from service import accounts, bots, comparisons, house, matches, refit, schema, tournaments, trials
from service.jobs import CHECK, SETTLE, InlineQueue, Job
from service.settings import Settings
from service.sheet import Spent
from service.work import Arena
from tests.databases import OwnDatabase

HOSTILE = '<img src=x onerror="document.title=1">\'"&amp;<script>document.title=2</script>'
CODE = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"
LONG = "a bot whose name is as long as it may be"
PLAYERS = {"counter": engine.bots.counter, "cautious": engine.bots.cautious, "random": engine.bots.random}


class Stumbling(LocalPlayer):
    """Answers what is no card, time and again, until it is out."""

    asked = 0

    def ask(self, question: Question) -> object:
        self.asked += 1
        if self.asked in (3, 17, 40):
            raise PlayerFault(
                FaultKind.ILLEGAL, f"'{HOSTILE}' is no card", out=False, evidence={"answer": HOSTILE}
            )
        return super().ask(question)


@dataclass(frozen=True, slots=True)
class Site:
    """A server with an arena behind it, and what is in there."""

    url: str
    arena: Arena
    token: str
    cup: str
    large: str
    waiting: str
    comparison: str
    bots: dict[str, str]

    def match(self, number: int = 0) -> str:
        return f"{self.cup}-{number}"


class Prompt(InlineQueue):
    """Does every job as it is sent."""

    def send(self, job: Job) -> None:
        super().send(job)
        self.run()


class Silent(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Requests are not written down."""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, own_database: OwnDatabase) -> Iterator[Settings]:
    with own_database() as told:
        yield Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path_factory.mktemp("site")), **told})


@pytest.fixture(scope="module")
def site(settings: Settings) -> Iterator[Site]:
    schema.migrate(settings)
    queue = Prompt()
    arena = Arena.open(settings, queue)
    queue.does = {
        CHECK: lambda version: passes(arena, version),
        SETTLE: lambda one: refit.settle(arena, one),
    }
    house.ensure(arena)
    ada, token = accounts.register(arena, name="ada")
    own = bots.submit(arena, ada, name=LONG, filename="bot.py", content=CODE, description=HOSTILE)
    bad = bots.submit(arena, ada, name="bad", filename="bot.py", content=b"raise ValueError\n")
    everyone = {bot.name: bot.id for bot in bots.bots(arena).items}
    seated = [everyone[name] for name in ("counter", "cautious", "random", LONG)]
    made = [
        tournaments.create(arena, ada, spec)
        for spec in (
            {"name": f"Cup {HOSTILE}", "entrants": seated, "players": 4, "deals": 2},
            {"name": "Seven at a table", "entrants": [*seated, *extras(arena, ada)], "players": 7, "deals": 1,
             "rules": {"preset": "challenge"}},
            {"name": "Winter cup", "entrants": seated, "start_at": "manual"},
        )
    ]  # fmt: skip
    pair = {"a": everyone["counter"], "b": everyone["random"], "cap": 40}
    comparison = comparisons.create(arena, ada, pair).id
    play_all(arena)
    app = create_app(settings, arena)
    listener = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Silent)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{listener.server_port}"
    cup, large, waiting = (each.id for each in made)
    yield Site(url, arena, token, cup, large, waiting, comparison, everyone | {"own": own.id, "bad": bad.id})
    listener.shutdown()
    listener.server_close()
    arena.close()


def extras(arena: Arena, ada: Any) -> list[str]:
    return [
        bots.submit(arena, ada, name=f"extra {number}", filename="bot.py", content=CODE).id
        for number in range(3)
    ]


def passes(arena: Arena, version_id: str) -> None:
    trial = trials.claim(arena, version_id)
    if trial is not None:
        good = b"raise" not in trial.code
        report = {"ready": True} if good else {"ready": False, "error": {"message": HOSTILE, "line": 1}}
        trials.record_check(arena, trial, ready=good, report=report)


def play_all(arena: Arena) -> None:
    """Every match that waits, by the house bots' own functions; Ada's bot stumbles."""
    names = {bot.id: bot.name for bot in bots.bots(arena).items}
    held = singly.claim(arena, "here")
    while held is not None:
        who = [names[version.partition(":")[0]] for version in held.versions]
        seats = [
            Stumbling.of(engine.bots.random)
            if name == LONG
            else LocalPlayer.of(PLAYERS.get(name, engine.bots.random))
            for name in who
        ]
        outcome = play(RuleSet.parse(held.rules, len(seats)), seats, seed=held.seed)
        spent = [Spent(12 + seat, 345, 6789) for seat in range(len(seats))]
        _, held = singly.finish_and_claim(arena, held, outcome, spent, mode="A", worker="here", more=True)


PAGES: dict[str, Callable[[Site], str]] = {
    "home": lambda site: "/",
    "tournaments": lambda site: "/tournaments",
    "tournament": lambda site: f"/tournaments/{site.cup}",
    "waiting": lambda site: f"/tournaments/{site.waiting}",
    "fairness": lambda site: f"/tournaments/{site.cup}/fairness",
    "schedule": lambda site: f"/tournaments/{site.cup}/matches",
    "match": lambda site: f"/matches/{site.match()}#r2t3d2",
    "match-large": lambda site: f"/matches/{site.large}-0#r1t4d4",
    "rankings": lambda site: "/rankings",
    "compare": lambda site: "/compare",
    "comparison": lambda site: f"/compare/{site.comparison}",
    "bots": lambda site: "/bots",
    "bot": lambda site: f"/bots/{site.bots['own']}",
    "sign-in": lambda site: "/sign-in",
    "writing-bots": lambda site: "/docs/bots",
    "guide": lambda site: "/docs",
    "lost": lambda site: "/nowhere",
}
SIGNED: dict[str, Callable[[Site], str]] = {
    "mine": lambda site: "/me",
    "bot-own": lambda site: f"/bots/{site.bots['own']}",
    "bot-rejected": lambda site: f"/bots/{site.bots['bad']}",
    "bot-new": lambda site: "/bots/new",
    "bot-edit": lambda site: f"/bots/{site.bots['own']}/edit",
    "tournament-new": lambda site: "/tournaments/new",
    "compare-new": lambda site: f"/compare?a={site.bots['own']}",
    "tournament-own": lambda site: f"/tournaments/{site.waiting}",
}


WHOLE = {"home", "tournaments", "schedule", "fairness", "rankings"}
TWICE = {("guide", "phone"), ("guide", "dark")}  # a long page of plain tables: once is enough
SLOW = {
    *(("match-large", "wide"), ("match-large", "dark")),  # what is hard about it is a phone
    ("guide", "wide"),  # half a minute for a page that seldom changes
    # Dark is the same parts in other colours: the pages with most of them will do.
    *((name, "dark") for name in PAGES.keys() - {"home", "tournament", "match", "rankings", "comparison"}),
}


def sign_in(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/sign-in")
    page.get_by_label("Token").fill(site.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("ada")


LOOKS = [
    pytest.param(*look, marks=pytest.mark.slow if look in SLOW else ())
    for look in ((name, screen) for screen in ("wide", "phone", "dark") for name in PAGES)
    if look not in TWICE
]


@pytest.mark.parametrize(("name", "screen"), LOOKS)
def test_every_page_is_light_fits_and_can_be_read_by_all(
    site: Site, open_tab: Any, name: str, screen: str, pictures: Path | None
) -> None:
    tab = open_tab(screen)
    page = tab.open(site.url + PAGES[name](site))
    assert tab.taken < 200_000
    assert page.title().endswith("Rage Arena")  # what is hostile would set another
    if screen == "phone" and name in WHOLE:
        aside = page.locator(".scroll").evaluate_all(
            "all => all.map(each => each.scrollWidth - each.clientWidth)"
        )
        assert not any(aside), "nothing of a list lies beside the screen"
    tab.look(name)
    if pictures is not None and screen == "wide":
        with (pictures / "bytes.txt").open("a") as out:
            print(name, tab.taken, file=out)


@pytest.mark.parametrize("screen", ["wide", "phone"])
def test_every_page_for_those_who_signed_in_too(site: Site, open_tab: Any, screen: str) -> None:
    tab = open_tab(screen)
    sign_in(tab.page, site)
    for name, path in SIGNED.items():
        tab.open(site.url + path(site))
        tab.look(name)


def test_hostile_names_are_text(site: Site, tab: Any) -> None:
    page = tab.open(f"{site.url}/tournaments/{site.cup}")
    assert page.get_by_role("heading", level=1).inner_text() == f"Cup {HOSTILE}"
    page = tab.open(f"{site.url}/bots/{site.bots['own']}")
    assert page.locator("p.lead").inner_text() == HOSTILE
    sign_in(page, site)
    tab.open(f"{site.url}/bots/{site.bots['own']}")
    assert HOSTILE in page.locator("td.name", has_text="is no card").first.inner_text()
    assert page.locator("img, main script").count() == 0


# The match, watched.


def scores(page: Page) -> list[int]:
    return [int(text.replace("\u2212", "-")) for text in page.locator(".seat .total").all_inner_texts()]


def said(page: Page) -> str:
    return page.locator("[data-part=said]").inner_text()


def where(page: Page) -> str:
    return page.locator("[data-part=where]").inner_text()


def test_the_match_steps_to_its_end_and_shows_the_record(site: Site, tab: Any) -> None:
    record = matches.record(site.arena, site.match())
    page = tab.open(f"{site.url}/matches/{site.match()}")
    for number, told in enumerate(record["rounds"], start=1):
        assert where(page) == f"Round {number} of {len(record['rounds'])}, the deal"
        for seat, hand in enumerate(told["hands"]):
            assert page.locator(".seat").nth(seat).locator(".card").count() == len(hand)
        page.keyboard.press("n")
    page.keyboard.press("End")
    assert said(page).startswith("The round is over.")
    assert scores(page) == record["scores"]
    points = page.locator("tfoot tr").first.locator("td").all_inner_texts()[1:]
    assert [int(re.match(r"\u2212?\d+", text)[0].replace("\u2212", "-")) for text in points] == record[
        "scores"
    ]


COVERED = """
() => [...document.querySelectorAll(".seat .hand .card + .card")].filter((next) => {
  const rank = next.previousElementSibling.querySelector(".rank").getBoundingClientRect();
  return /\\d/.test(next.previousElementSibling.querySelector(".rank").textContent)
    && rank.right > next.getBoundingClientRect().left;
}).length
"""


def test_a_full_hand_shows_every_number_whole(site: Site, tab: Any) -> None:
    for path in (f"/matches/{site.match()}#r1", f"/matches/{site.large}-0#r1"):
        page = tab.open(site.url + path)
        assert page.locator(".seat").first.locator(".card").count() == 10
        assert page.evaluate(COVERED) == 0


def test_back_is_the_way_forward_in_reverse(site: Site, tab: Any) -> None:
    page = tab.open(f"{site.url}/matches/{site.match(1)}#r9")
    told = []
    for _ in range(20):
        told.append((where(page), said(page), scores(page), page.locator(".felt").inner_text()))
        page.keyboard.press("ArrowRight")
    for expected in reversed(told):
        page.keyboard.press("ArrowLeft")
        assert (where(page), said(page), scores(page), page.locator(".felt").inner_text()) == expected


def test_tricks_taken_and_bids_are_those_of_the_record(site: Site, tab: Any) -> None:
    told = matches.record(site.arena, site.match())["rounds"][3]
    page = tab.open(f"{site.url}/matches/{site.match()}#r4")
    page.keyboard.press("n")
    page.keyboard.press("ArrowLeft")
    shown = [text.split("\n")[0] for text in page.locator(".seat .line").all_inner_texts()]
    assert shown == [f"{taken} of {bid}" for taken, bid in zip(told["taken"], told["bids"], strict=True)]


def test_a_moment_has_an_address_and_opens_there(site: Site, tab: Any) -> None:
    page = tab.open(f"{site.url}/matches/{site.match()}")
    for key in ("n", "Shift+ArrowRight", "Shift+ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile(r"#r2t2d2$"))
    told, address = said(page), page.url
    tab.open(f"{site.url}/")
    tab.open(address)
    assert said(page) == told
    assert "Round 2" in where(page) and "trick 2" in where(page)


def test_it_plays_by_itself_and_the_slider_goes_anywhere(site: Site, tab: Any) -> None:
    page = tab.open(f"{site.url}/matches/{site.match()}")
    page.get_by_label("Speed").select_option("10")
    page.get_by_role("button", name="Play").click()
    expect(page.locator("[data-part=slider]")).to_have_value(re.compile(r"^\d\d+$"))
    page.get_by_role("button", name="Pause").click()
    slider = page.get_by_label("Moment of the match")
    slider.focus()
    page.keyboard.press("End")
    assert where(page).endswith("the score")


def test_a_fault_is_marked_where_it_happened(site: Site, tab: Any) -> None:
    page = tab.open(f"{site.url}/matches/{site.match()}")
    page.get_by_role("link", name="watch").first.click()
    expect(page.locator("[data-part=said]")).to_contain_text(
        f"{LONG} v1 failed here: illegal; the table played for it."
    )
    expect(page.locator(".seat .chip.fault")).to_have_text("! illegal")
    assert page.locator(".ticks .flaw").count() >= 1


def test_the_same_hand_at_the_other_tables_is_one_click_away(site: Site, tab: Any) -> None:
    page = tab.open(f"{site.url}/matches/{site.match()}#r3")
    hands = page.locator("ul.hole:visible > li")
    assert hands.count() == 4
    first = hands.first
    assert first.locator(".card").count() == len(
        matches.record(site.arena, site.match())["rounds"][2]["hands"][0]
    )
    assert first.locator("tbody tr").count() == 4
    first.locator("a").first.click()
    page.wait_for_url(re.compile(r"/matches/.*-[1-3]#r3"))
    expect(page.locator("[data-part=where]")).to_contain_text("Round 3")


# Forms.


def test_from_nothing_to_a_tournament_without_a_command(site: Site, tab: Any, tmp_path: Path) -> None:
    page = tab.open(f"{site.url}/bots/new")
    page.get_by_role("link", name="Sign in").click()
    page.get_by_label("Name", exact=True).fill("grace")
    page.get_by_role("button", name="Make an account").click()
    token = page.locator(".secret").inner_text()
    assert accounts.authenticate(site.arena, token).name == "grace"
    page.get_by_role("link", name="Submit your first bot").click()
    (tmp_path / "mine.py").write_bytes(CODE)
    page.get_by_label("Name", exact=True).fill("grace bot")
    page.get_by_label("Code", exact=True).set_input_files(tmp_path / "mine.py")
    page.get_by_label("Description").fill("two lines\nof words")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("grace bot")
    expect(page.locator(".facts .tag")).to_have_text("ready")
    page.goto(f"{site.url}/tournaments/new")
    page.get_by_label("Name", exact=True).fill("Spring cup")
    page.get_by_label("Find a bot").fill("grace")
    page.get_by_label("grace bot").check()
    page.get_by_label("Find a bot").fill("house")
    page.get_by_label("counter v1").check()
    page.get_by_label("Seats at a table").fill("2")
    page.get_by_label("when I say so", exact=True).check()
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Spring cup")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    play_all(site.arena)
    page.reload()
    expect(page.locator("#progress .tag")).to_have_text("finished")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()


def test_what_is_wrong_is_said_at_once_and_what_was_typed_is_kept(site: Site, tab: Any) -> None:
    page = tab.page
    sign_in(page, site)
    page.goto(f"{site.url}/tournaments/new")
    page.locator("form.stack").evaluate("form => form.noValidate = true")
    page.get_by_label("Name", exact=True).fill("  ")
    page.get_by_label("Seats at a table").fill("12")
    page.get_by_label("Deals each table plays").fill("0")
    page.get_by_label("counter v1").check()
    page.get_by_role("button", name="Make it").click()
    wrong = page.get_by_role("alert")
    for name in ("entrants", "players", "deals"):
        expect(wrong.locator("a", has_text=name)).to_have_count(1)
    assert page.get_by_label("Seats at a table").input_value() == "12"
    assert page.get_by_label("counter v1").is_checked()
    tab.look("tournament-wrong")


def test_rankings_can_be_narrowed_and_another_pool_chosen(site: Site, tab: Any) -> None:
    page = tab.open(f"{site.url}/rankings?rules=fundex&players=4")
    assert page.locator("tbody tr").count() == 4
    page.get_by_label("without house bots").check()
    page.get_by_role("button", name="Show").click()
    assert page.locator("tbody td.name").all_inner_texts() == [f"{LONG} v1 provisional"]
    page.get_by_label("Rules and table").select_option("challenge 7")
    page.wait_for_url(re.compile("challenge"))
    expect(page.locator(".lead")).to_contain_text("challenge rules, 7 at a table")


def test_without_scripts_everything_but_the_table_can_be_read(site: Site, open_tab: Any) -> None:
    tab = open_tab(java_script_enabled=False)
    tab.page.goto(f"{site.url}/matches/{site.match()}")
    assert tab.page.locator(".sheet tbody tr").count() == 10
    assert "needs JavaScript" in tab.page.locator(".felt").inner_text()


def test_standings_print_without_what_only_a_screen_needs(site: Site, tab: Any) -> None:
    page = tab.open(f"{site.url}/tournaments/{site.cup}")
    page.emulate_media(media="print")
    tab.shoot("tournament-print")
    assert page.locator("table.standings").is_visible()
    assert not page.locator("header nav").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_a_comparison_is_watched_to_its_verdict(site: Site, tab: Any) -> None:
    page = tab.page
    sign_in(page, site)
    page.get_by_role("link", name="Compare").click()
    page.get_by_label("Is this bot").select_option(label="counter v1, house")
    page.get_by_label("better than this one?").select_option(label="cautious v1, house")
    page.get_by_text("More: seats").click()
    page.get_by_label("Deals at the most").fill("30")
    page.get_by_role("button", name="Find out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Is counter better than cautious?")
    play_all(site.arena)
    expect(page.locator("#verdict .notice")).to_contain_text("better than cautious v1.")
    tab.look("comparison-own")


def test_what_a_tournament_would_be_is_said_before_it_is_made(site: Site, tab: Any) -> None:
    page = tab.page
    sign_in(page, site)
    page.goto(f"{site.url}/tournaments/new")
    page.get_by_label("Name", exact=True).fill("Perhaps")
    for name in ("counter v1", "cautious v1", "random v1"):
        page.get_by_label(name).check()
    page.get_by_label("Seats at a table").fill("3")
    page.get_by_role("button", name="What would it be?").click()
    expect(page.locator("#plan")).to_contain_text("3 matches on 1 deal.")
    assert page.get_by_label("counter v1").is_checked()
    tab.look("tournament-plan")
