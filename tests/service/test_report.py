"""A report reads alike wherever it is shown."""

import pytest

from service import report

READY = {
    "ready": True, "points": 41, "place": 2, "scores": [1, 2, 3, 4], "stderr": "one\ntwo\n",
    "timings": {"decision": {"cpu_ms_mean": 0.123, "cpu_ms_max": 1.5}, "memory_kb": 20480},
}  # fmt: skip
REJECTED = {
    "ready": False, "stage": "match", "stderr": "a\nb",
    "error": {"kind": "illegal", "line": None, "message": "R9 is not in legal", "advice": "Look."},
    "decision": {"asked": "play", "number": 3, "round": 1, "trick": 2, "answer": "\x1b[2J"},
}  # fmt: skip


def test_a_ready_bot_is_told_its_figures() -> None:
    assert report.text(READY) == (
        "ready: 41 points, place 2 of 4, no faults\n"
        "CPU a decision: mean 0.12 ms, longest 1.50 ms; memory 20 MiB"
    )


def test_a_rejected_bot_is_told_why_and_what_it_wrote() -> None:
    assert report.text(REJECTED) == (
        "rejected at: match\nillegal: R9 is not in legal\nasked: play (decision 3, round 1, trick 2)\n"
        "answered: ?[2J\nLook.\n  a\n  b"
    )


def test_what_a_bot_wrote_is_shown_when_asked_for() -> None:
    assert report.text(READY, log=True).endswith("log:\n  one\n  two")
    assert report.text({**READY, "stderr": ""}, log=True).endswith("log:\n  (nothing)")


@pytest.mark.parametrize(
    "told", [{}, {"ready": True}, {"ready": False, "error": None}, {"ready": False, "error": {}}]
)
def test_a_report_with_parts_missing_is_still_shown(told: dict) -> None:
    assert report.text(told).split()[0] in ("ready", "rejected")


def test_words_that_turn_a_line_around_or_end_it_are_taken_out() -> None:
    assert report.clean("a\u202eb\u2066c\u2028d\x9be\x1b[2Jf\tg é\ud800") == "a?b?c?d?e?[2Jf\tg é?"


def test_a_flood_is_shown_by_its_beginning_unless_the_log_is_asked_for() -> None:
    told = {**REJECTED, "stderr": "y" * 8000, "decision": {"answer": "x" * 8000}}
    assert max(map(len, report.text(told).splitlines())) < 400
    assert "answered: " + "x" * 300 + "... (8000 characters)" in report.text(told)
    assert "y" * 8000 in report.text(told, log=True)
