"""Bots over HTTP: uploaded, looked at, retired; their code and faults are their owner's."""

import io
import zipfile
from typing import Any

import pytest
from flask.testing import FlaskClient

from loadtests import archives
from service import accounts
from service.accounts import Role
from service.limits import Limits
from service.work import Arena
from tests.databases import ON_EACH

CODE = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"


def archive(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return out.getvalue()


def test_the_api_names_what_is_wrong_with_each_hostile_archive(http: FlaskClient, ada: Any) -> None:
    """Nothing is kept of any; `python -m loadtests.archives` prints the answers."""
    answers = {each.name: archives.answer(http, ada.token, each) for each in archives.HOSTILE}
    assert {name for name, (status, _) in answers.items() if status != 422} == set()
    assert [each.name for each in archives.HOSTILE if each.reason not in answers[each.name][1]] == []
    assert ada.get("/bots").get_json()["items"] == []


def test_a_new_bot_has_version_1_and_is_being_checked(ada: Any) -> None:
    answer = ada.upload(name="spy", description="counts", public_source="true")
    assert answer.status_code == 201
    bot = answer.get_json()
    assert (bot["status"], bot["version"], bot["owner"], bot["public_source"]) == ("checking", 1, "ada", True)
    assert ada.http.get(answer.headers["Location"]).get_json() == bot


def test_an_archive_is_a_bot_too(ada: Any) -> None:
    packed = archive(**{"bot.toml": b'run = ["python", "main.py"]', "main.py": b"print()"})
    bot = ada.upload(name="zip", code=packed, filename="bot.zip").get_json()
    assert bot["versions"][0]["kind"] == "zip"


@pytest.mark.parametrize(
    ("code", "filename", "said"),
    [
        (b"", "bot.py", "empty"),
        (b"\xff\xfe", "bot.py", "line 1 is not UTF-8"),
        (CODE, "bot.exe", ".py"),
        (b"PK", "bot.zip", "not a readable zip"),
        (archive(**{"main.py": b""}), "bot.zip", "needs at its top a bot.toml"),
        (archive(**{"../x": b"", "bot.toml": b""}), "bot.zip", "../x"),
    ],
)
def test_an_upload_that_is_no_bot_is_refused_with_the_reason(
    ada: Any, code: bytes, filename: str, said: str
) -> None:
    answer = ada.upload(name="spy", code=code, filename=filename)
    assert answer.status_code == 422
    assert said in answer.json["errors"]["code"][0]
    assert ada.get("/bots").get_json()["items"] == []


@pytest.mark.parametrize(
    ("form", "fields"),
    [
        ({}, {"name", "code"}),
        ({"name": "spy"}, {"code"}),
        ({"name": "spy", "code": "a text"}, {"code"}),
        ({"name": "a/b", "code": (io.BytesIO(CODE), "b.py")}, {"name"}),
        ({"name": "spy", "code": (io.BytesIO(CODE), "b.py"), "colour": "red"}, {"colour"}),
        ({"name": "spy", "code": (io.BytesIO(CODE), "b.py"), "public_source": "maybe"}, {"public_source"}),
        ({"name": ["spy", "pie"], "code": (io.BytesIO(CODE), "b.py")}, {"name"}),
        ({"name": (io.BytesIO(b"spy"), "n.txt"), "code": (io.BytesIO(CODE), "b.py")}, {"name"}),
        ({"name": "spy", "description": "x" * 2001, "code": (io.BytesIO(CODE), "b.py")}, {"description"}),
    ],
)
def test_a_form_with_wrong_fields_names_them(ada: Any, form: dict[str, Any], fields: set[str]) -> None:
    answer = ada.post("/bots", data=form, content_type="multipart/form-data")
    assert (answer.status_code, set(answer.json["errors"])) == (422, fields)


@ON_EACH
def test_a_name_of_another_bot_is_a_conflict(ada: Any, bob: Any) -> None:
    ada.upload(name="spy")
    assert bob.upload(name="SPY").status_code == 409


def test_a_further_version_follows(ada: Any) -> None:
    bot = ada.upload(name="spy").get_json()
    made = ada.upload(f"/bots/{bot['id']}/versions", code=CODE + b"# better\n")
    assert (made.status_code, made.get_json()["number"]) == (201, 2)
    assert [each["number"] for each in ada.get(f"/bots/{bot['id']}").get_json()["versions"]] == [2, 1]


def test_anothers_bot_cannot_be_changed(ada: Any, bob: Any) -> None:
    bot = ada.upload(name="spy").get_json()
    assert bob.upload(f"/bots/{bot['id']}/versions").status_code == 403
    assert bob.delete(f"/bots/{bot['id']}").status_code == 403


@ON_EACH
def test_code_is_for_its_owner_and_admins(ada: Any, bob: Any, http: FlaskClient, arena: Arena) -> None:
    bot = ada.upload(name="spy", filename="böt.py").get_json()
    path = f"/bots/{bot['id']}/versions/1/code"
    assert ada.get(path).data == CODE
    assert ada.get(path).headers["Content-Disposition"].startswith("attachment")
    assert bob.get(path).status_code == 404
    assert http.get(f"/api/v1{path}").status_code == 404
    with arena.work() as work:
        _, token = accounts.create(work, name="boss", role=Role.ADMIN)
    assert http.get(f"/api/v1{path}", headers={"Authorization": f"Bearer {token}"}).data == CODE


def test_public_code_is_for_everybody(ada: Any, http: FlaskClient) -> None:
    bot = ada.upload(name="spy", public_source="true").get_json()
    assert http.get(f"/api/v1/bots/{bot['id']}/versions/1/code").data == CODE


def test_a_retired_bot_stays_in_sight_and_takes_no_versions(ada: Any) -> None:
    bot = ada.upload(name="spy").get_json()
    assert ada.delete(f"/bots/{bot['id']}").status_code == 204
    assert ada.delete(f"/bots/{bot['id']}").status_code == 204
    assert ada.get(f"/bots/{bot['id']}").get_json()["status"] == "retired"
    assert ada.upload(f"/bots/{bot['id']}/versions").status_code == 409


@ON_EACH
def test_pages_hold_every_bot_once_whatever_is_uploaded_meanwhile(ada: Any) -> None:
    before = [ada.upload(name=f"bot {number}").get_json()["id"] for number in range(7)]
    page = ada.get("/bots?limit=3").get_json()
    ada.upload(name="late")
    found = [bot["id"] for bot in page["items"]]
    while page["next"]:
        page = ada.get(f"/bots?limit=3&cursor={page['next']}").get_json()
        found += [bot["id"] for bot in page["items"]]
    assert found == before[::-1]


def test_bots_can_be_chosen_by_owner_name_and_state(ada: Any, bob: Any) -> None:
    ada.upload(name="spy")
    bob.upload(name="spider")
    bob.delete(f"/bots/{bob.upload(name='old').get_json()['id']}")
    for query, names in {
        "owner=ada": ["spy"],
        "name=sp": ["spider", "spy"],
        "status=retired": ["old"],
        "owner=bob&status=checking": ["spider"],
        "name=%25": [],
    }.items():
        assert [bot["name"] for bot in ada.get(f"/bots?{query}").get_json()["items"]] == names


def test_faults_are_their_owners(cup: dict[str, Any], ada: Any, bob: Any) -> None:
    path = f"/bots/{cup['entrants'][0]['bot_id']}/versions/1/faults"
    faults = ada.get(f"{path}?limit=3").get_json()
    assert [fault["kind"] for fault in faults["items"]] == ["illegal"] * 3
    assert faults["items"][0]["evidence"] == {"answer": "R99"}
    assert len(ada.get(f"{path}?cursor={faults['next']}").get_json()["items"]) == cup["progress"]["total"] - 3
    assert bob.get(path).status_code == 404


def test_its_owner_alone_changes_what_is_said_of_it(ada: Any, bob: Any, http: Any) -> None:
    one = ada.upload(name="spy").json["id"]
    told = ada.patch(f"/bots/{one}", {"description": "counts", "public_source": True}).json
    assert (told["description"], told["public_source"]) == ("counts", True)
    assert ada.patch(f"/bots/{one}", {}).json["description"] == "counts"
    assert bob.patch(f"/bots/{one}", {"description": "x"}).status_code == 403
    assert http.patch(f"/api/v1/bots/{one}", json={}).status_code == 401
    assert ada.patch("/bots/bot_none", {}).status_code == 404
    wrong = ada.patch(f"/bots/{one}", {"name": "x", "public_source": 1})
    assert (wrong.status_code, set(wrong.json["errors"])) == (422, {"name", "public_source"})
    assert ada.patch(f"/bots/{one}", {"description": "x" * 2001}).status_code == 422


def test_a_body_that_is_too_large_is_told_the_limit(ada: Any) -> None:
    answer = ada.upload(name="spy", code=b"#" * (5 * 1024 * 1024 + 1))
    assert (answer.status_code, "5 MiB" in answer.json["detail"]) == (413, True)
    answer = ada.upload(name="spy", code=b"#" * (7 * 1024 * 1024))
    assert (answer.status_code, "a bot may have at most 5 MiB" in answer.json["detail"]) == (413, True)
    answer = ada.post("/tournaments", {"name": "x" * (1 << 20)})
    assert (answer.status_code, "at most 1 MiB" in answer.json["detail"]) == (413, True)


def test_the_limits_say_what_a_bot_may_be(http: Any) -> None:
    told = http.get("/api/v1/limits").json
    assert told["match"] == Limits().as_dict()
    assert told["ranges"]["memory_mb"] == {"least": 64, "most": 1024}
    assert told["interpreters"] == ["python"]


def test_the_rules_offer_what_a_tournament_may_set(http: Any) -> None:
    switches = http.get("/api/v1/rules/fundex").json["switches"]
    assert "secret_bids" in switches
    assert "teams" in switches
