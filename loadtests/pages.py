"""How long a reader waits for the pages of a running service, and how much they take over the wire.

    python -m loadtests.pages http://127.0.0.1:8000

Every page is opened in a fresh Chromium context, so nothing is kept; times are medians of a few. `server` is
the answer's first byte, `paint` the first contentful paint, `bytes` all that was transferred; `first` is the
paint of the first look, before the server has added anything up.
"""

import shutil
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from playwright.sync_api import Browser, sync_playwright

from api.client import Client

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ROUNDS = 5
PAINT = """() => new Promise(told => new PerformanceObserver(list => {
    const paint = list.getEntriesByName("first-contentful-paint")[0];
    if (paint) told([performance.getEntriesByType("navigation")[0].responseStart, paint.startTime]);
}).observe({ type: "paint", buffered: true }))"""


@dataclass(frozen=True, slots=True)
class Seen:
    """One look at a page: milliseconds and bytes."""

    server: float
    paint: float
    size: int


def addresses(url: str) -> Iterator[tuple[str, str]]:
    """A page of each kind."""
    client = Client(url)
    tournament = next(iter(client.tournaments(status="finished")))["id"]
    bot = next(iter(client.rankings()["items"]))["bot_id"]
    for name, path in (
        ("home", "/"),
        ("tournaments", "/tournaments"),
        ("tournament", f"/tournaments/{tournament}"),
        ("schedule", f"/tournaments/{tournament}/matches"),
        ("match", f"/matches/{tournament}-0"),
        ("rankings", "/rankings"),
        ("rankings, all", "/rankings?all=1"),
        ("bots", "/bots"),
        ("bot", f"/bots/{bot}"),
    ):
        yield name, url + path


def look(browser: Browser, address: str) -> Seen:
    """Opens a page that nothing is known of yet."""
    context = browser.new_context()
    page, taken = context.new_page(), [0]
    session = context.new_cdp_session(page)
    session.on("Network.loadingFinished", lambda event: taken.append(int(event["encodedDataLength"])))
    session.send("Network.enable")
    page.goto(address, wait_until="networkidle")
    server, paint = page.evaluate(PAINT)
    context.close()
    return Seen(server, paint, sum(taken))


def main(argv: Sequence[str]) -> None:
    """Prints a table."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        print(f"{'page':<14} {'first, ms':>9} {'server, ms':>10} {'paint, ms':>9} {'bytes':>8}")
        for name, address in addresses(argv[0].rstrip("/")):
            first, *seen = [look(browser, address) for _ in range(ROUNDS + 1)]
            server = statistics.median(each.server for each in seen)
            paint = statistics.median(each.paint for each in seen)
            print(f"{name:<14} {first.paint:>9.0f} {server:>10.0f} {paint:>9.0f} {first.size:>8}")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
