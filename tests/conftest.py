"""What all tests share: who runs which of them, databases, a browser and what it must not see."""

import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, CDPSession, Page, expect, sync_playwright
from sqlalchemy import event

from service.work import Arena

pytest_plugins = ["tests.databases"]
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
SCREENS: dict[str, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
}
LONGEST = (
    "service",
    "test_chaos.py",
    "workers",
    "test_pages_browser.py",
    "test_up.py",
    "test_killing.py",
    "test_stopping.py",
    "test_by_hand.py",
    "test_readme.py",
    "test_refit.py",
    "test_tournaments.py",
)  # groups, each as long as many others together
QUIET_PORTS = range(20_000, 30_000)
EXPECTED = ("Failed to load resource",)  # an answer of 4xx or 5xx; tests that want none look at answers


expect.set_options(timeout=20_000)  # milliseconds; machines that test are busy


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--chaos", choices=("short", "long"), default="short", help="how long a storm is to last"
    )
    parser.addoption(
        "--database", choices=("sqlite", "postgres"), default="sqlite", help="for tests/api and tests/stories"
    )
    parser.addoption("--fuzz-cases", type=int, default=10_000, help="requests made up, for each database")
    parser.addoption("--screenshots", metavar="DIR", help="write a picture of every page into this folder")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Half as many again as there are cores: tests wait a third of their time, for other programs."""
    told = "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ
    return None if told else (3 * len(os.sched_getaffinity(0)) + 1) // 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where several processes share the tests: what each of them takes at once, and the longest first."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(group_of(item), len(place)))


def group_of(item: pytest.Item) -> str:
    """Tests of one file stay together, and so do those that share a service, or the sandboxes."""
    if "service" in getattr(item, "fixturenames", ()):
        return "service"
    return "workers" if item.path.parent.name == "workers" else item.path.name


@pytest.fixture
def later_port() -> int:
    """One to be listened on later: of these the kernel gives none to who asks for any."""
    first = os.getpid() % len(QUIET_PORTS)
    return next(port for port in (*QUIET_PORTS[first:], *QUIET_PORTS[:first]) if _is_free(port))


def _is_free(port: int) -> bool:
    with socket.socket() as listener, suppress(OSError):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        return True
    return False


@pytest.fixture
def queries(arena: Arena) -> Iterator[list[str]]:
    """What the database is asked from now on."""
    said: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        said.append(statement)

    event.listen(arena.database, "before_cursor_execute", note)
    yield said
    event.remove(arena.database, "before_cursor_execute", note)


@dataclass(slots=True)
class Tab:
    """A page of the browser, and everything it said and asked for."""

    page: Page
    screen: str
    pictures: Path | None
    said: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    taken: int = 0

    def open(self, address: str) -> Page:
        """Goes there, and waits until nothing more is loaded."""
        self.taken = 0
        self.page.goto(address, wait_until="load")
        expect(self.page.locator("[aria-busy=true]")).to_have_count(0)
        return self.page

    def look(self, name: str) -> None:
        """Nothing is wider than the screen, axe finds no serious problem; a picture if any are wanted."""
        wide = SCREENS[self.screen]["viewport"]["width"]
        wider = self.page.evaluate("document.documentElement.scrollWidth") - wide
        assert wider <= 0, f"{name} is {wider} pixels wider than the {self.screen} screen: {self._wide(wide)}"
        self.shoot(name)
        found = [each for each in Axe().run(self.page).response["violations"] if serious(each)]
        assert not found, json.dumps([brief(each) for each in found], indent=1)

    def _wide(self, most: int) -> list[str]:
        """What reaches beyond the screen, outside of what may be scrolled."""
        found: list[str] = self.page.evaluate(
            """most => [...document.querySelectorAll("body *")]
                .filter(each => each.getBoundingClientRect().right > most)
                .filter(each => !each.closest(".scroll, figure, pre, main > table"))
                .map(each => each.outerHTML.slice(0, 120))""",
            most,
        )
        return found[:5]

    def shoot(self, name: str) -> None:
        """A picture of the whole page, if any are wanted."""
        if self.pictures is not None:
            self.page.screenshot(path=self.pictures / f"{name}-{self.screen}.png", full_page=True)


def serious(violation: dict[str, Any]) -> bool:
    return violation["impact"] in ("serious", "critical")


def brief(violation: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": violation["id"],
        "help": violation["help"],
        "where": [node["html"][:160] for node in violation["nodes"][:3]],
        "why": violation["nodes"][0]["failureSummary"][:300],
    }


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium: that of RAGE_CHROMIUM, or one on the PATH."""
    program = os.environ.get("RAGE_CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no Chromium is installed here: apt-get install chromium")
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=program, args=QUIET)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def pictures(request: pytest.FixtureRequest) -> Path | None:
    """Where pictures go, if any are wanted."""
    folder = request.config.getoption("--screenshots")
    if folder is None:
        return None
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder)


@pytest.fixture
def open_tab(browser: Browser, pictures: Path | None) -> Iterator[Callable[..., Tab]]:
    """Opens tabs that share nothing. At the end none of them may have erred or asked another host."""
    tabs: list[Tab] = []

    def make(screen: str = "wide", **options: Any) -> Tab:
        context = browser.new_context(**SCREENS[screen], **options)
        tab = Tab(context.new_page(), screen, pictures)
        tabs.append(tab)
        listen(tab, context.new_cdp_session(tab.page))
        return tab

    yield make
    for tab in tabs:
        tab.page.context.close()
        wrong = [text for text in tab.said if not text.startswith(EXPECTED)]
        assert not wrong, wrong
        assert tab.hosts <= {"127.0.0.1"}, tab.hosts


def listen(tab: Tab, session: CDPSession) -> None:
    tab.page.on(
        "console", lambda said: tab.said.append(said.text) if said.type in ("error", "warning") else None
    )
    tab.page.on("pageerror", lambda error: tab.said.append(str(error)))
    tab.page.on(
        "request",
        lambda asked: tab.hosts.add(asked.url.partition("://")[2].partition(":")[0].partition("/")[0]),
    )
    session.on("Network.loadingFinished", lambda event: count(tab, event["encodedDataLength"]))
    session.send("Network.enable")


def count(tab: Tab, length: float) -> None:
    tab.taken += int(length)


@pytest.fixture
def tab(open_tab: Callable[..., Tab]) -> Tab:
    """A tab on a wide screen."""
    return open_tab()
