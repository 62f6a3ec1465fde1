"""The pages without a browser: who may see and do what, how they are kept, and what each answer carries."""

import gzip
import re
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from api.app import create_app
from api.pages.site import FOR_EVER, POLICY, STATIC, tag
from service import tables, tournaments
from service.formats import FORMATS
from service.sprt import FEWEST
from service.work import Arena
from tests.databases import ON_EACH

HTML = {"Accept": "text/html"}
FORMS = ("/bots/new", "/tournaments/new", "/sign-out", "/bots/{bot}/versions", "/bots/{bot}/retire")


def sign_in(client: FlaskClient, token: str, **options: Any) -> TestResponse:
    return client.post("/sign-in", data={"token": token}, **options)


def form_key(client: FlaskClient) -> str:
    found = re.search(r'name="form_key" value="([0-9a-f]{64})"', client.get("/me").text)
    assert found is not None
    return found[1]


def test_who_signs_in_again_leaves_no_session_behind(
    http: FlaskClient, ada: Any, bob: Any, arena: Arena
) -> None:
    for token in (ada.token, bob.token, bob.token):
        assert sign_in(http, token).status_code == 303
    with arena.read() as db:
        assert len(db.execute(select(tables.session)).all()) == 1


@pytest.fixture
def signed(http: FlaskClient, ada: Any) -> FlaskClient:
    assert sign_in(http, ada.token).status_code == 303
    return http


def test_a_session_is_for_this_browser_alone(http: FlaskClient, ada: Any) -> None:
    cookie = sign_in(http, ada.token).headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert ada.token not in cookie
    assert "Secure" in sign_in(http, ada.token, headers={"Origin": "https://localhost"}).headers["Set-Cookie"]


@pytest.mark.parametrize("token", ["", "rage_wrong", "\u00e9"])
def test_a_wrong_token_is_said_beside_its_field(http: FlaskClient, token: str) -> None:
    answer = sign_in(http, token)
    assert answer.status_code == 422
    assert 'class="wrong"' in answer.text
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize(
    "then", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"]
)
def test_signing_in_leads_to_no_other_site(http: FlaskClient, ada: Any, then: str) -> None:
    answer = http.post("/sign-in", data={"token": ada.token, "then": then})
    assert answer.headers["Location"] == "/me"
    assert http.post("/sign-in", data={"token": ada.token, "then": "/bots"}).headers["Location"] == "/bots"


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize("key", [None, "0" * 64, "\u00e9"])
def test_a_form_without_this_sessions_key_does_nothing(
    signed: FlaskClient, ready_bots: list[str], path: str, key: str | None
) -> None:
    data = {} if key is None else {"form_key": key}
    assert signed.post(path.format(bot=ready_bots[0]), data=data).status_code == 403
    assert signed.get(f"/api/v1/bots/{ready_bots[0]}").get_json()["status"] == "ready"


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_a_form_of_another_site_is_refused_even_with_the_key(
    signed: FlaskClient, ready_bots: list[str], headers: dict[str, str], ada: Any
) -> None:
    key = form_key(signed)
    refused = signed.post(f"/bots/{ready_bots[0]}/retire", data={"form_key": key}, headers=headers)
    assert refused.status_code == 403
    assert sign_in(signed, ada.token, headers=headers).status_code == 403
    done = signed.post(
        f"/bots/{ready_bots[0]}/retire", data={"form_key": key}, headers={"Origin": "http://localhost"}
    )
    assert done.status_code == 303


def test_one_person_changes_nothing_of_anothers(
    http: FlaskClient, ready_bots: list[str], bob: Any, ada: Any, make_spec: Any
) -> None:
    made = ada.post("/tournaments", make_spec(ready_bots, start_at="manual")).get_json()
    sign_in(http, bob.token)
    data = {"form_key": form_key(http)}
    for path in (f"/bots/{ready_bots[0]}/retire", f"/tournaments/{made['id']}/start"):
        assert http.post(path, data=data).status_code == 403
    page = http.get(f"/bots/{ready_bots[0]}").text
    assert "Faults in matches" not in page
    assert "/edit" not in page
    assert "Cancel it" not in http.get(f"/tournaments/{made['id']}").text


def test_signing_out_ends_the_session_for_good(signed: FlaskClient) -> None:
    cookie = signed.get_cookie("rage_session")
    assert cookie is not None
    signed.post("/sign-out", data={"form_key": form_key(signed)})
    assert signed.get("/me").status_code == 401
    signed.set_cookie("rage_session", cookie.value)
    assert signed.get("/me").status_code == 401


def test_a_cookie_opens_no_api(signed: FlaskClient) -> None:
    assert signed.get("/api/v1/accounts/me").status_code == 401
    assert signed.post("/api/v1/tournaments", json={}).status_code == 401


def test_where_reading_is_closed_pages_are_for_those_who_signed_in(
    strict_http: FlaskClient, cup: dict[str, Any], ada: Any
) -> None:
    paths = ("/tournaments", f"/tournaments/{cup['id']}", f"/matches/{cup['id']}-0", "/rankings", "/bots",
             f"/matches/{cup['id']}-0/story.json", f"/tournaments/{cup['id']}/events")  # fmt: skip
    assert {strict_http.get(path).status_code for path in paths} == {401}
    assert "Please sign in" in strict_http.get("/bots", headers=HTML).text
    assert "make an account" not in strict_http.get("/sign-in").text.lower()
    sign_in(strict_http, ada.token)
    assert {strict_http.get(path).status_code for path in paths} == {200}


def test_pages_are_asked_about_again_and_files_never(http: FlaskClient, cup: dict[str, Any]) -> None:
    for path in ("/", f"/tournaments/{cup['id']}", f"/matches/{cup['id']}-0", "/rankings"):
        first = http.get(path)
        assert first.headers["Cache-Control"] == "no-cache"
        assert {"Cookie", "Accept-Encoding"} <= set(first.vary)
        again = http.get(path, headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")
    file = re.search(r'href="(/assets/[0-9a-f]{12}/rage.css)"', http.get("/").text)
    assert file is not None
    assert http.get(file[1]).headers["Cache-Control"] == FOR_EVER
    assert http.get("/assets/000000000000/rage.css").headers["Cache-Control"] == "no-cache"
    assert http.get(f"/assets/{tag()}/../app.py").status_code == 404


def test_what_is_for_one_is_kept_by_their_browser_alone_and_never_squeezed(signed: FlaskClient) -> None:
    answer = signed.get("/me", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert "Content-Encoding" not in answer.headers


def test_pages_and_stories_are_squeezed_for_who_can_read_that(http: FlaskClient, cup: dict[str, Any]) -> None:
    path = f"/matches/{cup['id']}-0/story.json"
    plain, squeezed = http.get(path), http.get(path, headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(squeezed.data) == plain.data
    assert len(squeezed.data) < len(plain.data) / 3
    assert squeezed.headers["ETag"] == plain.headers["ETag"]


def test_every_page_lets_in_nothing_from_elsewhere_and_no_script_of_its_own_text(
    http: FlaskClient, cup: dict[str, Any]
) -> None:
    bot = cup["entrants"][0]["bot_id"]
    own = f"/tournaments/{cup['id']}"
    lists = ("/", "/tournaments", "/rankings", "/bots", "/sign-in", "/docs")
    for path in (*lists, own, f"{own}/matches", f"/matches/{cup['id']}-0", f"/bots/{bot}"):
        page = http.get(path)
        assert page.headers["Content-Security-Policy"] == POLICY, path
        assert not re.search(r"<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=", page.text), path
        assert not re.search(r"""(?:src|href|action)=["'](?:https?:)?//""", page.text), path
    assert "unsafe" not in POLICY


def test_scripts_and_styles_name_no_other_host() -> None:
    for file in STATIC.glob("*.*s"):
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"(https?:)?//[a-z0-9.-]+\.[a-z]{2,}", text), file.name


@pytest.mark.parametrize(
    ("path", "status"), [("/nowhere", 404), ("/bots/bot_nothing", 404), ("/matches/t_x-0", 404), ("/me", 401)]
)
def test_refusals_are_pages_for_people_and_problems_for_programs(
    http: FlaskClient, path: str, status: int
) -> None:
    page = http.get(path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (page.status_code, page.mimetype) == (status, "text/html")
    assert page.headers["Content-Security-Policy"] == POLICY
    problem = http.get(path, headers={"Accept": "*/*"})
    assert (problem.status_code, problem.mimetype) == (status, "application/problem+json")


@ON_EACH
def test_bad_words_in_an_address_are_no_failure(http: FlaskClient, cup: dict[str, Any]) -> None:
    for path, status in (
        ("/rankings?players=99", 422),
        ("/rankings?pool=a b c", 200),
        ("/rankings?at=yesterday", 422),
        ("/tournaments?cursor=x", 422),
        ("/tournaments?status=x", 200),
        (f"/tournaments/{cup['id']}/matches?cursor=x", 422),
        ("/bots?q=%00", 200),
        ("/bots?owner=%00", 200),
        ("/bots/%00", 404),
        ("/bots?cursor=%00", 422),
        ("/rankings?q=%00", 200),
        ("/rankings?rules=%00&players=4", 422),
        ("/rankings?pool=%00 4", 422),
        ("/compare?a=%00&b=%00", 200),
        ("/tournaments/%00", 404),
        (f"/tournaments/{cup['id']}/matches?status=%00", 200),
        (f"/bots/bot_x/versions/{10**20}/code", 404),
    ):
        assert http.get(path).status_code == status, path


def test_a_page_of_a_bot_that_failed_leads_its_owner_to_the_moment(
    signed: FlaskClient, cup: dict[str, Any]
) -> None:
    page = signed.get(f"/bots/{cup['entrants'][0]['bot_id']}").text
    assert re.search(rf"/matches/{cup['id']}-\d+#s\d+d2", page)
    assert "R99 is no card" in page
    assert f"rage reproduce {cup['id']}" in page


def test_what_moves_comes_alone_too(http: FlaskClient, cup: dict[str, Any]) -> None:
    part = http.get(f"/tournaments/{cup['id']}?part=live").text
    assert "<html" not in part
    assert part.count("<tr data-key=") == 4 + 8


def test_the_organiser_runs_a_tournament_by_its_page(
    signed: FlaskClient, ready_bots: list[str], ada: Any, make_spec: Any, arena: Arena
) -> None:
    made = ada.post("/tournaments", make_spec(ready_bots, start_at="manual")).get_json()
    data = {"form_key": form_key(signed)}
    for act, status in (
        ("start", "running"),
        ("pause", "paused"),
        ("resume", "running"),
        ("cancel", "cancelled"),
    ):
        assert f"/{act}" in signed.get(f"/tournaments/{made['id']}").text
        assert signed.post(f"/tournaments/{made['id']}/{act}", data=data).status_code == 303
        assert tournaments.tournament(arena, made["id"]).status == status
    refused = signed.post(f"/tournaments/{made['id']}/start", data=data, headers=HTML)
    assert refused.status_code == 409
    assert "cannot be started" in refused.text


def test_registration_that_is_closed_is_closed_here_too(arena: Arena) -> None:
    closed = replace(arena, settings=replace(arena.settings, open_registration=False))
    answer = create_app(arena=closed).test_client().post("/register", data={"name": "eve"})
    assert answer.status_code == 409
    assert "operator" in answer.text


def test_an_author_enters_a_bot_where_entry_is_open_and_withdraws_it(
    http: FlaskClient, ada: Any, bob: Any, ready_bots: list[str], make_spec: Any, arena: Arena
) -> None:
    made = bob.post("/tournaments", make_spec([], start_at="manual", entry={"open": True})).get_json()
    path = f"/tournaments/{made['id']}"
    assert "Sign in</a> to enter" in http.get(path).text
    assert re.search("<b>0</b> of up to [\\d\u202f]+ matches played", http.get(path).text)
    assert "of a full field of 64; 0 entered so far" in http.get(path).text
    sign_in(http, ada.token)
    data = {"form_key": form_key(http), "entrant": ready_bots[0]}
    assert f'value="{ready_bots[0]}"' in http.get(path).text
    for act, left in (("enter", [ready_bots[0]]), ("withdraw", [])):
        assert http.post(f"{path}/{act}", data=data).status_code == 303
        assert [each.bot_id for each in tournaments.tournament(arena, made["id"]).entrants] == left
    assert http.post(f"{path}/enter", data={**data, "entrant": ""}).status_code == 422


def test_a_draft_is_its_organisers_alone(
    http: FlaskClient, ada: Any, ready_bots: list[str], make_spec: Any
) -> None:
    made = ada.post("/tournaments", make_spec(ready_bots, start_at="draft", name="Hush")).get_json()
    path = f"/tournaments/{made['id']}"
    assert http.get(path).status_code == 404
    assert "Hush" not in http.get("/tournaments").text
    sign_in(http, ada.token)
    for own in (path, "/tournaments", "/me"):
        assert "Hush" in http.get(own).text


def test_the_fairness_report_comes_with_the_end(
    http: FlaskClient, ada: Any, cup: dict[str, Any], make_spec: Any
) -> None:
    page = http.get(f"/tournaments/{cup['id']}/fairness").text
    report = http.get(f"/api/v1/tournaments/{cup['id']}/fairness").get_json()
    assert page.count("<tr>") == 1 + len(report["checks"])
    bots = [each["bot_id"] for each in cup["entrants"]]
    later = ada.post("/tournaments", make_spec(bots, start_at="manual")).get_json()
    assert http.get(f"/tournaments/{later['id']}/fairness", headers=HTML).status_code == 409


def test_every_format_can_be_chosen(signed: FlaskClient, ready_bots: list[str], arena: Arena) -> None:
    offered = signed.get("/tournaments/new").text.partition('id="f-format"')[2].partition("</select>")[0]
    assert re.findall(r'<option value="(\w+)"', offered) == list(FORMATS)
    for each in FORMATS:
        more = {"challenger": ready_bots[0]} if each == "gauntlet" else {}
        data = {"form_key": form_key(signed), "name": each, "entrants": ready_bots, "format": each,
                "players": "4", "deals": "1", "duplicate": "1", "when": "manual", **more}  # fmt: skip
        answer = signed.post("/tournaments/new", data=data)
        assert answer.status_code == 303, re.findall(r'class="wrong".*', answer.text)
        made = tournaments.tournament(arena, answer.headers["Location"].rpartition("/")[2])
        assert made.format == each


def test_a_form_has_teams_limits_and_a_deadline(
    signed: FlaskClient, ready_bots: list[str], arena: Arena
) -> None:
    data = {"form_key": form_key(signed), "name": "Pairs", "entrants": ready_bots[:2], "players": "4",
            "deals": "1", "duplicate": "1", "teams": "2+2", "limits_memory_mb": "512", "when": "manual",
            "open": "1", "deadline": "2031-01-01T10:00"}  # fmt: skip
    answer = signed.post("/tournaments/new", data=data)
    assert answer.status_code == 303, re.findall(r'class="wrong".*', answer.text)
    made = tournaments.tournament(arena, answer.headers["Location"].rpartition("/")[2])
    assert (made.rules["teams"], made.limits["memory_mb"], made.limits["decision_ms"]) == ("2+2", 512, 1000)
    assert made.entry.deadline is not None and made.entry.deadline.isoformat() == "2031-01-01T10:00:00+00:00"
    wrong = signed.post("/tournaments/new", data=data | {"limits_memory_mb": "1", "name": "Small"})
    assert wrong.status_code == 422 and "memory_mb: must be a whole number from 64 to 1024" in wrong.text
    assert 'value="2+2" selected' in wrong.text


def test_who_says_no_more_than_who_plays_gets_the_same_by_page_and_api(
    signed: FlaskClient, ada: Any, ready_bots: list[str], arena: Arena
) -> None:
    form = signed.get("/tournaments/new").text
    shown = dict(re.findall(r'name="(players|deals|meetings)" type="number" value="(\d+)"', form))
    assert re.search(r'name="duplicate" value="1" checked', form)
    told = {"name": "By API", "entrants": ready_bots, "start_at": "manual"}
    made = ada.post("/tournaments", told).get_json()
    assert shown == {name: str(made[name]) for name in ("players", "deals", "meetings")}
    assert made["duplicate"] is True


def test_a_plan_makes_nothing_and_keeps_what_was_typed(
    signed: FlaskClient, ready_bots: list[str], arena: Arena
) -> None:
    data = {"form_key": form_key(signed), "name": "Perhaps", "entrants": ready_bots, "players": "4",
            "deals": "3", "duplicate": "1", "act": "plan"}  # fmt: skip
    shown = signed.post("/tournaments/new", data=data)
    assert shown.status_code == 200
    assert "12 matches</b> on 3 deals" in shown.text and "Nothing was made yet." in shown.text
    assert 'value="Perhaps"' in shown.text
    opened = {"open": "1", "limit": "9", "when": "manual"}
    assert "of a full field of 9;" in signed.post("/tournaments/new", data=data | opened).text
    assert tournaments.tournaments(arena).items == []
    assert signed.post("/tournaments/new", data=data | {"deals": "0"}).status_code == 422


def test_an_organiser_disqualifies_on_the_page(
    signed: FlaskClient, ready_bots: list[str], arena: Arena, ada: Any, make_spec: Any
) -> None:
    made = ada.post("/tournaments", make_spec(ready_bots)).get_json()["id"]
    assert "Disqualify" in signed.get(f"/tournaments/{made}").text
    assert "Disqualify" not in create_app(arena=arena).test_client().get(f"/tournaments/{made}").text
    data = {"form_key": form_key(signed), "entrant": ready_bots[1]}
    path = f"/tournaments/{made}/disqualify"
    assert signed.post(path, data=data).status_code == 422
    assert signed.post(path, data=data | {"reason": "copied <b>"}).status_code == 303
    page = signed.get(f"/tournaments/{made}").text
    assert "copied &lt;b&gt;" in page
    assert '<span class="quiet">8 fell away</span>' in page
    assert '<span class="quiet">8 fell away</span>' in signed.get("/tournaments").text
    fell = signed.get(f"/matches/{made}-0").text
    assert "will not be played: bot 1 was disqualified." in fell and "when it is done" not in fell
    assert "Places go by points a match" in page and "Who left comes last" in page
    left = tournaments.tournament(arena, made).entrants[1]
    assert (left.status, left.reason) == ("disqualified", "copied <b>")


def test_a_comparison_is_begun_watched_and_cancelled_on_the_page(
    signed: FlaskClient, ready_bots: list[str], arena: Arena
) -> None:
    key = {"form_key": form_key(signed)}
    form = signed.get("/compare").text
    assert "Find out" in form and f"after {FEWEST} deals at the earliest" in form
    assert "Find out" not in create_app(arena=arena).test_client().get("/compare").text
    same = signed.post("/compare", data=key | {"a": ready_bots[0], "b": ready_bots[0], "elo0": "x"})
    assert same.status_code == 422 and "must be a number" in same.text
    begun = signed.post("/compare", data=key | {"a": ready_bots[0], "b": ready_bots[1], "elo0": "-5"})
    assert begun.status_code == 303, re.findall(r'class="wrong".*', begun.text)
    page = begun.headers["Location"]
    told = signed.get(page).text
    assert "Is bot 0 better than bot 1?" in told and f"after {FEWEST} deals at the earliest" in told
    part = signed.get(f"{page}?part=live").text
    assert "<html" not in part and "of at most 2\u202f000 deals" in part
    assert page in signed.get("/compare").text
    assert signed.post(f"{page}/cancel", data=key).status_code == 303
    assert "cancelled" in signed.get(page).text and "Cancel it" not in signed.get(page).text
    one = page.rpartition("/")[2]
    assert "bot 0 v1 against bot 1 v1</a>" in signed.get(f"/matches/{one}-0").text
    assert signed.get(f"/tournaments/{one}").headers["Location"] == page


def test_versions_that_are_ready_are_offered_and_no_others(
    signed: FlaskClient, ready_bots: list[str], ada: Any, bob: Any, arena: Arena, make_spec: Any
) -> None:
    one, ours = ready_bots[0], tables.version.c.bot_id == ready_bots[0]
    for _ in range(3):
        assert ada.upload(f"/bots/{one}/versions").status_code == 201

    def offered(rejected: int) -> list[str]:
        with arena.work() as work:
            work.db.execute(tables.version.update().where(ours).values(status="ready"))
            bad = tables.version.c.number.in_((3, rejected))
            work.db.execute(tables.version.update().where(ours, bad).values(status="rejected"))
        shown = signed.get("/compare").text.partition('id="f-a"')[2].partition("</select>")[0]
        assert f"bot 0 v{max({1, 2, 4} - {rejected})}, yours" in shown
        return re.findall(rf'value="{one}(:\d+)?"', shown)

    assert offered(rejected=3) == ["", ":2", ":1"]
    assert offered(rejected=4) == ["", ":1"], "the newest that is ready stands for the bot"
    made = bob.post("/tournaments", make_spec([], start_at="manual", entry={"open": True})).get_json()
    assert f'<option value="{one}">bot 0 v2</option>' in signed.get(f"/tournaments/{made['id']}").text
    assert "bot 0 v2" in signed.get("/tournaments/new").text


def test_a_finished_tournament_says_how_to_verify_it_and_what_a_match_is_called(
    http: FlaskClient, cup: dict[str, Any]
) -> None:
    page = http.get(f"/tournaments/{cup['id']}").text
    assert f"rage tournament verify {cup['id']} --hash {cup['secret_hash']}</code>" in page
    assert "In the order of points a match" not in page
    match = http.get(f"/matches/{cup['id']}-0").text
    assert f">{cup['id']}-0</code></li>" in match


def test_matches_deals_and_seats_bear_the_numbers_of_their_ids(
    http: FlaskClient, cup: dict[str, Any], arena: Arena
) -> None:
    schedule = http.get(f"/tournaments/{cup['id']}/matches").text
    told = http.get(f"/api/v1/tournaments/{cup['id']}/matches").get_json()["items"]
    numbers = [(str(each["number"]), str(each["group"])) for each in told]
    assert re.findall(r'match </span>(\d+)</a></td><td class="n narrow-hide">(\d+)</td>', schedule) == numbers
    match = http.get(f"/matches/{told[-1]['id']}").text
    assert f"<h1>Match {told[-1]['number']}</h1>" in match
    assert f"<li>deal <b>{told[-1]['group']}</b>, rotation {told[-1]['rotation']} (0 to 3)</li>" in match
    assert re.findall(r"<h3>Seat (\d), round 1</h3>", match) == ["0", "1", "2", "3"]


def test_a_stranger_is_led_to_sign_in_and_back(http: FlaskClient) -> None:
    page = http.get("/bots/new", headers=HTML)
    assert page.status_code == 401
    assert "This page is for those who are signed in." in page.text and "Bearer" not in page.text
    assert '<a class="button main" href="/sign-in?then=/bots/new">To the sign-in page</a>' in page.text
