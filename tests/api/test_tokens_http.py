"""Tokens for one purpose alone, and how often one may ask."""

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import redis
from flask.testing import FlaskClient
from sqlalchemy import select

from api.app import create_app
from service import accounts, sessions, valkey
from service.accounts import Role
from service.errors import Unauthorized
from service.rates import Rates, place
from service.settings import Settings
from service.tables import answer
from service.work import Arena


def narrowed(author: Any, *scopes: str) -> Any:
    """The same account with a token for these purposes."""
    made = author.post("/accounts/me/tokens", {"label": "narrow", "scopes": scopes})
    assert made.status_code == 201, made.text
    return replace(author, token=made.get_json()["token"])


def test_a_token_is_listed_without_its_secret_and_revoked_for_good(ada: Any) -> None:
    further = narrowed(ada, "author")
    assert further.get("/accounts/me").get_json()["scopes"] == ["author"]
    listed = ada.get("/accounts/me/tokens").get_json()["items"]
    assert [(each["label"], each["scopes"]) for each in listed] == [
        ("first", ["author", "organiser"]),
        ("narrow", ["author"]),
    ]
    assert all(each["last_used_at"] for each in listed)
    assert further.token not in str(listed)
    assert ada.delete(f"/accounts/me/tokens/{listed[1]['id']}").status_code == 204
    assert ada.delete(f"/accounts/me/tokens/{listed[1]['id']}").status_code == 204
    assert further.get("/accounts/me").status_code == 401
    assert ada.get("/accounts/me").status_code == 200


def test_a_narrow_token_revokes_itself_but_none_for_more(ada: Any) -> None:
    narrow = narrowed(ada, "author")
    first, own = (each["id"] for each in ada.get("/accounts/me/tokens").get_json()["items"])
    refused = narrow.delete(f"/accounts/me/tokens/{first}")
    assert refused.status_code == 403 and "organiser" in refused.get_json()["detail"]
    assert ada.get("/accounts/me").status_code == 200
    assert narrow.delete(f"/accounts/me/tokens/{own}").status_code == 204


def test_with_a_token_goes_what_was_made_with_it(ada: Any) -> None:
    lost = narrowed(ada, "author")
    further = narrowed(narrowed(lost, "author"), "author")
    ids = [each["id"] for each in ada.get("/accounts/me/tokens").get_json()["items"]]
    assert [each["made_with"] for each in ada.get("/accounts/me/tokens").get_json()["items"]] == [
        None,
        *ids[:3],
    ]
    assert ada.delete(f"/accounts/me/tokens/{ids[1]}").status_code == 204
    assert [each.get("/accounts/me").status_code for each in (lost, further, ada)] == [401, 401, 200]


def test_a_new_token_takes_the_place_of_the_one_it_was_made_with(ada: Any) -> None:
    new = narrowed(ada, "author", "organiser")
    newer = narrowed(new, "author")
    first = new.get("/accounts/me/tokens").get_json()["items"][0]["id"]
    assert new.delete(f"/accounts/me/tokens/{first}").status_code == 204
    assert [each.get("/accounts/me").status_code for each in (ada, new, newer)] == [401, 200, 200]


def test_an_organisers_token_names_entrants_and_enters_nothing_elsewhere(
    ada: Any, bob: Any, ready_bots: list[str]
) -> None:
    organiser, author = narrowed(ada, "organiser"), narrowed(ada, "author")
    spec = {"name": "Cup", "entrants": ready_bots[:3], "players": 3, "start_at": "manual"}
    own, open_to_all = (
        ada.post("/tournaments", spec),
        bob.post("/tournaments", spec | {"entry": {"open": True}}),
    )
    for made, who, status in (
        (own, author, 409),
        (own, organiser, 200),
        (open_to_all, organiser, 403),
        (open_to_all, author, 200),
    ):
        path = f"/tournaments/{made.get_json()['id']}/entrants"
        assert who.post(path, {"entrant": ready_bots[3]}).status_code == status
    path = f"/tournaments/{open_to_all.get_json()['id']}/entrants/{ready_bots[3]}"
    assert organiser.delete(path).status_code == 403
    assert author.delete(path).status_code == 204


def test_a_token_does_what_it_is_for_and_nothing_else(ada: Any, ready_bots: list[str]) -> None:
    author, organiser = narrowed(ada, "author"), narrowed(ada, "organiser")
    spec = {"name": "Cup", "entrants": ready_bots, "players": 4, "deals": 1, "start_at": "manual"}
    refused = author.post("/tournaments", spec)
    assert refused.status_code == 403 and "the scope organiser" in refused.get_json()["detail"]
    assert organiser.post("/tournaments", spec).status_code == 201
    assert organiser.upload(name="mine").status_code == 403
    assert author.upload(name="mine").status_code == 201
    code = f"/bots/{ready_bots[0]}/versions/1/code"
    assert author.get(code).status_code == 200
    assert organiser.get(code).status_code == 404


def test_a_browser_signs_in_with_a_token_for_all_that_its_pages_can_do(ada: Any, arena: Arena) -> None:
    with pytest.raises(Unauthorized, match="lacks the scope organiser"):
        sessions.begin(arena, narrowed(ada, "author").token)
    _, key = sessions.begin(arena, narrowed(ada, "author", "organiser").token)
    signed_in = sessions.account_of(arena, key)
    assert signed_in is not None and signed_in.scopes == ("author", "organiser")


def test_no_token_makes_one_that_may_more(ada: Any, bob: Any) -> None:
    narrow = narrowed(ada, "author")
    for scopes in (["organiser"], ["author", "admin"], []):
        answer = narrow.post("/accounts/me/tokens", {"label": "wide", "scopes": scopes})
        assert answer.status_code == 422 and "it may author" in answer.get_json()["errors"]["scopes"][0]
    for scopes in (["root"], "author", None):
        errors = ada.post("/accounts/me/tokens", {"label": "odd", "scopes": scopes}).get_json()["errors"]
        assert next(iter(errors)).startswith("scopes")
    assert ada.post("/accounts/me/tokens", {"label": "", "scopes": ["author"]}).status_code == 422
    theirs = ada.get("/accounts/me/tokens").get_json()["items"][0]["id"]
    assert bob.delete(f"/accounts/me/tokens/{theirs}").status_code == 404


def test_a_secret_is_not_kept_for_a_key_that_comes_again(ada: Any, arena: Arena) -> None:
    body = {"label": "twice", "scopes": ["author"]}
    made = [ada.post("/accounts/me/tokens", body, key="k" * 20).get_json() for _ in range(2)]
    assert made[0] == made[1]
    with arena.read() as db:
        assert db.execute(select(answer)).all() == []


@dataclass(slots=True)
class Time:
    """Seconds that pass when they are told to."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def redis_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path_factory.mktemp("rates"))})
    (settings.data_dir / "run").mkdir(exist_ok=True)
    with subprocess.Popen(valkey.arguments(settings), stdout=subprocess.DEVNULL) as server:
        while not valkey.answers(settings.client_url):
            assert server.poll() is None
        yield settings
        server.terminate()


@pytest.fixture
def counting(redis_settings: Settings, arena: Arena, make_author: Callable[[str], Any]) -> Iterator[Any]:
    """An application that counts in a real Redis, with small limits, and an author of it."""
    author = make_author("cleo")
    few = {"requests_per_minute": 12, "writes_per_minute": 3, "accounts_per_hour": 2}
    app = create_app(arena=replace(arena, settings=replace(arena.settings, **few)))
    client = redis.Redis.from_url(redis_settings.client_url)
    client.flushall()
    app.extensions["rates"] = Rates(client, Time())
    yield replace(author, http=app.test_client())
    client.close()


def test_too_many_requests_are_refused_until_the_next_minute(counting: Any) -> None:
    rates = counting.http.application.extensions["rates"]
    assert [counting.get("/rules").status_code for _ in range(12)] == [200] * 12
    refused = counting.get("/rules")
    assert refused.status_code == 429 and 1 <= int(refused.headers["Retry-After"]) <= 60
    assert "at most 12 requests a minute" in refused.get_json()["detail"]
    assert counting.http.get("/api/v1/rules").status_code == 200, "another is not refused for it"
    rates._clock.now += 60
    assert counting.get("/rules").status_code == 200


def test_changes_accounts_and_wrong_tokens_have_limits_of_their_own(counting: Any) -> None:
    changes = [counting.post("/accounts/me/tokens", {}).status_code for _ in range(4)]
    assert changes == [422, 422, 422, 429]
    names = [counting.http.post("/api/v1/accounts", json={"name": f"n {n}"}) for n in range(3)]
    assert [answer.status_code for answer in names] == [201, 201, 429]
    assert "new accounts an hour" in names[2].get_json()["detail"]
    wrong = {"Authorization": "Bearer rage_wrong"}
    tried = [counting.http.get("/api/v1/rules", headers=wrong).status_code for _ in range(31)]
    assert tried == [401] * 30 + [429]


def test_who_has_a_token_makes_no_more_accounts_than_a_stranger(counting: Any, arena: Arena) -> None:
    names = [counting.post("/accounts", {"name": f"n {n}"}).status_code for n in range(3)]
    assert names == [201, 201, 429]
    with arena.work() as work:
        _, token = accounts.create(work, name="boss", role=Role.ADMIN)
    invited = replace(counting, token=token).post("/accounts", {"name": "invited"})
    assert invited.status_code == 201, "an administrator invites whom they like"


def test_pages_count_as_the_api_does(counting: Any) -> None:
    http = counting.http
    names = [http.post("/register", data={"name": f"n {n}"}).status_code for n in range(3)]
    assert names == [201, 201, 429]
    assert http.post("/api/v1/accounts", json={"name": "one more"}).status_code == 429
    http.delete_cookie("rage_session")
    counting.http.application.extensions["rates"]._clock.now += 60
    assert [http.get("/docs/bots").status_code for _ in range(13)] == [200] * 12 + [429]
    assert http.get("/favicon.ico").status_code == 200, "files that a browser keeps do not count"


def test_wrong_tokens_have_a_limit_on_the_page_to_sign_in_too(counting: Any, arena: Arena) -> None:
    app = create_app(arena=arena)
    app.extensions["rates"] = counting.http.application.extensions["rates"]
    tried = [app.test_client().post("/sign-in", data={"token": f"rage_{n}"}) for n in range(31)]
    assert [answer.status_code for answer in tried] == [422] * 30 + [409]
    assert "wrong tokens a minute" in tried[-1].text


def test_without_redis_nobody_is_refused(tmp_path: Path) -> None:
    settings, time = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path)}), Time()
    rates = Rates(redis.Redis.from_url(settings.client_url), time)
    assert [rates.take("ada", 1, 60) for _ in range(3)] == [0, 0, 0]


def test_an_address_behind_a_trusted_proxy_counts_as_itself(arena: Arena, http: FlaskClient) -> None:
    behind = create_app(arena=replace(arena, settings=replace(arena.settings, proxies=1))).test_client()
    seen: list[str] = []
    for client in (http, behind):
        client.application.extensions["rates"].take = lambda name, *_: seen.append(name) or 0
        client.get("/api/v1/rules", headers={"X-Forwarded-For": "203.0.113.9"})
    assert seen == ["all:127.0.0.1", "all:203.0.113.9"]


def test_a_network_of_ipv6_counts_as_one() -> None:
    assert place("2001:db8::1") == place("2001:db8::ffff:2") == "2001:db8::"
    assert place("2001:db8:0:1::1") != place("2001:db8::1")
    assert place("::ffff:192.0.2.7") == "192.0.2.7" == place("192.0.2.7")
    assert place(None) == place("a pipe") == "unknown"
