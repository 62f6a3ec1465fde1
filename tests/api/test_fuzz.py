"""Requests made up from the document: no answer is a 500, and none is other than the document says."""

from pathlib import Path

import pytest

from loadtests import fuzz
from loadtests.fuzz_world import furnished


def test_a_few_requests_of_an_author(tmp_path: Path) -> None:
    """Examples, single requests and sequences; `python -m loadtests.fuzz` has all senders and many more."""
    with furnished(tmp_path) as there:
        seen = fuzz.run(there, "author", each=2, seed=1, phases=("examples", "fuzzing", "stateful"))
    assert seen.wrong == []
    operations = {
        f"{method.upper()} {path}"
        for path, methods in there.app.extensions["openapi"]["paths"].items()
        for method in methods
        if method != "parameters"
    }
    assert {name for name, _ in seen.answers} == operations
    assert {name for name, status in seen.answers if status < 300} >= {
        "POST /api/v1/tournaments",
        "POST /api/v1/comparisons",
        "GET /api/v1/tournaments/{tournament_id}/standings",
    }


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_many_requests_of_all_senders(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """As many as `--fuzz-cases` says."""
    url = request.getfixturevalue("postgres") if kind == "postgres" else None
    cases = request.config.getoption("--fuzz-cases")
    seen = fuzz.Seen()
    for more in fuzz.turns(each=30, seed=1, database_url=url):
        seen.add(more)
        if seen.cases >= cases:
            break
    assert seen.wrong == []
