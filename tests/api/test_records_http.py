"""Records that have left the database, over HTTP: answered as before, or gone with the reason."""

from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

from service import desk, retention
from service.work import Arena
from tests.databases import ON_EACH

pytestmark = ON_EACH

Cup = dict[str, Any]


def test_a_record_in_a_file_is_answered_as_before(http: FlaskClient, cup: Cup, arena: Arena) -> None:
    address = f"/api/v1/matches/{cup['id']}-3"
    before = [http.get(path).data for path in (f"{address}/record", address)]
    tag = http.get(f"{address}/record").headers["ETag"]
    desk.sum_up(arena)
    retention.move(arena, cup["id"])
    assert [http.get(path).data for path in (f"{address}/record", address)] == before
    assert http.get(f"{address}/record", headers={"If-None-Match": tag}).status_code == 304
    assert http.get(f"/matches/{cup['id']}-3").status_code == 200, "its page"


def test_without_the_file_it_is_gone_and_all_else_is_there(http: FlaskClient, cup: Cup, arena: Arena) -> None:
    path: Path = retention.move(arena, cup["id"])
    path.unlink()
    refused = http.get(f"/api/v1/matches/{cup['id']}-3/record")
    assert refused.status_code == 410
    assert path.name in refused.get_json()["detail"] and str(path.parent) not in refused.text
    assert http.get(f"/api/v1/matches/{cup['id']}-3").get_json()["status"] == "done"
    assert http.get(f"/api/v1/tournaments/{cup['id']}/standings").status_code == 200
    page = http.get(f"/matches/{cup['id']}-3")
    assert page.status_code == 410 and path.name in page.text, "a page shows the play, which is gone"
