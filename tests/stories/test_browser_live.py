"""A tournament watched in a browser while it is really played, over a restart of the server."""

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from api.client import Client
from service.supervisor import Supervisor

pytestmark = [pytest.mark.story, pytest.mark.sandbox]
PATIENCE = 60_000  # milliseconds


def played(page: Any) -> int:
    return int(page.locator("#progress b").inner_text().replace("\u202f", ""))


def test_what_is_played_moves_on_the_page_and_a_restart_of_the_server_is_outlived(
    service: Supervisor, author: Client, open_tab: Callable[..., Any]
) -> None:
    entrants = [bot["id"] for bot in author.bots(owner="house") if bot["name"] != "montecarlo"]
    made = author.create_tournament(name="Live", entrants=entrants, players=3, deals=400)
    tab = open_tab()
    page = tab.open(f"{service.address}/tournaments/{made['id']}")
    live = page.locator("#live")
    expect(live).to_have_attribute("data-state", "live", timeout=PATIENCE)
    before = played(page)
    expect(page.locator("#progress b")).not_to_have_text(str(before), timeout=PATIENCE)
    expect(page.locator("table.standings tbody tr")).to_have_count(3, timeout=PATIENCE)
    tab.shoot("live")
    os.kill(service.pids["api"], signal.SIGKILL)
    expect(live).not_to_have_attribute("data-state", "live", timeout=PATIENCE)
    expect(live).to_have_attribute("data-state", "live", timeout=PATIENCE)
    after = played(page)
    expect(page.locator("#progress b")).not_to_have_text(str(after), timeout=PATIENCE)
    author.cancel(made["id"])
    expect(page.locator("#progress .tag")).to_have_text("cancelled", timeout=PATIENCE)
    expect(page.get_by_text("deals and plays every match again")).to_be_visible(timeout=PATIENCE)
    tab.said = [
        text for text in tab.said if "ERR_CONNECTION" not in text and "INCOMPLETE_CHUNKED" not in text
    ]
