"""Standings, rankings and reports as the command and the demo print them."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from api import legend
from api.shown import Column, say, table
from service import report as reports

Row = Mapping[str, Any]
CPU_BASIS = {
    "bots": "by what these bots used",
    "pool": "by what bots of this pool used",
    "limits": "at the most: nothing was measured yet",
}
LEFT = {"in": "", "filler": ", fills a seat"}  # said of an entrant in the standings; else its status


def standings(rows: Sequence[Row]) -> None:
    """Who stands where."""
    columns = (Column("place", True), Column("bot"), Column("points", True), Column("a match", True),
               Column("dealt", True), Column("earned", True), Column("won", True), Column("bids", True),
               Column("faults", True), Column("matches", True))  # fmt: skip
    table(columns, [_standing(row) for row in rows], empty="nothing was played yet")
    for sentence in legend.of_standings(rows):
        say(sentence)


def _standing(row: Row) -> list[object]:
    bot = named(row) + LEFT.get(row["status"], f", {row['status']}")
    place = row["place"] if row["matches"] else ""
    return [place, bot, row["points"], f"{row['average']:.1f}", tenth(row["dealt"]),
            tenth(row["earned"], "+"), row["wins"], percent(row["bid_accuracy"]), row["faults"],
            row["matches"]]  # fmt: skip


def tenth(value: float | None, sign: str = "") -> str:
    """A number with one decimal, `sign` "+" shows that of positive ones too; nothing for none."""
    if value is None:
        return ""
    return f"{value:{sign}.1f}" if round(value, 1) else "0.0"


def percent(share: float | None) -> str:
    """A share in whole percent, nothing for none; 100 % is said of all alone, 0 % of nothing."""
    if share is None:
        return ""
    if 0 < share < 0.005:
        return "under 1 %"
    return "over 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def probability(share: float | None) -> str:
    """As `percent`, of what is never certain, however it was rounded."""
    return percent(None if share is None else min(max(share, 0.001), 0.999))


def crosstable(rows: Sequence[Row]) -> None:
    """Every pair that met."""
    columns = (Column("bot"), Column("against"), Column("matches", True), Column("points ahead", True),
               Column("ahead", True), Column("behind", True), Column("level", True))  # fmt: skip
    shown = [
        [row["a_name"], row["b_name"], row["games"], tenth(row["difference"], "+"), row["wins_a"],
         row["wins_b"], row["ties"]]
        for row in rows if row["games"]
    ]  # fmt: skip
    table(columns, shown, empty="nobody has met yet")


def plan(found: Row) -> None:
    """What a tournament would be."""
    if found["full_field"]:
        say(f"entry is open: all this is of a full field of {found['entrants']}; fewer play less")
    say(f"{found['matches']:,} matches of {found['players']} on {found['groups']:,} deals")
    say(f"  {_balance(found)}")
    if (sure := found["precision"]) is not None:
        say(f"  ratings to about ±{sure['rating']:.0f} Elo, differences to ±{sure['difference']:.0f}")
    say(f"  {found['cpu_hours']:.2g} CPU hours ({CPU_BASIS[found['cpu_basis']]})")
    say(f"  {_end(found)}")
    if found["schedule"] is not None:
        say(f"  seed {found['seed']}, schedule {found['schedule']}")


def _balance(found: Row) -> str:
    if found["full_field"]:
        return "who meets whom follows from who enters"
    if (balance := found["balance"]) is None:
        return f"who of {found['entrants']} entrants meets whom, results decide"
    games, seats, pairs = (_span(balance[what]) for what in ("games", "seats", "pairs"))
    return f"each of {found['entrants']} entrants plays {games}, {seats} in a seat; two meet {pairs} times"


def _end(found: Row) -> str:
    if found["seconds"] is None:
        return "no worker is there to play it"
    took = str(timedelta(seconds=round(found["seconds"])))
    end = f", over at about {found['finish_at'][:19]}Z" if found["finish_at"] else ""
    others = f"; {found['waiting']:,} matches of others wait" if found["waiting"] else ""
    workers = f"{found['workers']} worker{'s' if found['workers'] != 1 else ''}"
    return f"{took} with {workers}{end}{others}"


def _span(span: Row) -> str:
    least, most = span["least"], span["most"]
    return str(least) if least == most else f"{least} to {most}"


def fairness(found: Row) -> None:
    """What the checks of a tournament say."""
    columns = (Column("check"), Column("p", True), Column("verdict"), Column("what was seen"))
    table(columns, [_check(each) for each in found["checks"]])
    say(f"{found['matches']} matches on {found['groups']} deals; where nothing makes a difference,")
    say(f"one in {1 / found['level']:.0f} tournaments shows any finding")


def _check(each: Row) -> list[object]:
    p = "" if each["adjusted"] is None else f"{each['adjusted']:.3f}"
    verdict = "not tested" if each["p"] is None else "quiet"
    if each["found"]:
        verdict = "ALARM" if each["alarm"] else "evens out"
    text = each["text"]
    if each["name"] == "company" and each["detail"]:
        first = each["detail"][0]
        text += f" ({first['a_name']}, {first['b_name']})"
    return [each["name"], p, verdict, text]


def rankings(ranking: Row) -> None:
    """Who is how good."""
    columns = (Column("place", True), Column("bot"), Column("author"), Column("rating", True),
               Column("95 %", True), Column("may be", True), Column("> next", True),
               Column("matches", True), Column("forfeits", True), Column(""))  # fmt: skip
    pool = f"{ranking['rules']}, {ranking['players']} at a table"
    table(columns, [_ranked(row) for row in ranking["items"]], empty=f"no rated matches yet: {pool}")
    for sentence in legend.of_ranking(ranking):
        say(sentence)


def _ranked(row: Row) -> list[object]:
    span, better = row["rank_range"], row["p_better_next"]
    places = "" if span is None else str(span[0]) if span[0] == span[1] else f"{span[0]} to {span[1]}"
    between = "" if row["low"] is None else f"{_rating(row['low'])} to {_rating(row['high'])}"
    return [row["place"], f"{row['bot']} v{row['version']}", row["owner"], _rating(row["rating"]), between,
            places, probability(better), row["matches"], row["forfeits"],
            _note(row)]  # fmt: skip


def _note(row: Row) -> str:
    if row["retired"]:
        return "retired"
    if not row["active"]:
        return "replaced"
    return "provisional" if row["provisional"] else ""


def _rating(value: float) -> str:
    """Elo whole; what is counted in points, near 0, to a tenth."""
    return f"{value:.0f}" if abs(value) >= 500 else f"{value:.1f}"


def comparison(found: Row) -> None:
    """Whether one is better than the other."""
    a, b = (f"{found[side]['bot']} v{found[side]['version']}" for side in ("a", "b"))
    say(f"{a} {_rating(found['a']['rating'])}, {b} {_rating(found['b']['rating'])} ({found['unit']})")
    low, high = (tenth(found[end], "+") for end in ("low", "high"))
    say(
        f"  difference {tenth(found['difference'], '+')}"
        + (f", 95 % sure from {low} to {high}" if low else "")
    )
    if found["p_better"] is not None:
        say(f"  {a} is better with probability {probability(found['p_better'])}")
    if found["matches"]:
        say(f"  {found['matches']} matches together, of whose points {a} took {percent(found['score'])}")
    else:
        say("  they never met")


def tournament(found: Row) -> None:
    """A tournament and how far it is."""
    progress = found["progress"]
    say(f"{found['id']}: {found['name']}, {found['status']}, {found['format'].replace('_', ' ')}")
    say(f"  by {found['owner']}: {_played_as(found)}")
    say(f"  deals follow from a secret of SHA-256 {found['secret_hash']}")
    if found["status"] in ("draft", "scheduled"):
        say(f"  {waits_for(found)}")
    if found["repeat"]:
        say(f"  repeats by {found['repeat']} (UTC)")
    if found["pair_spread"] == 2:
        say("  some pairs meet twice more often than others: it is a large field")
    if found["reason"]:
        say(f"  {found['reason']}")
    stage = f"stage {found['stage']}, " if found["stage"] > 1 else ""
    say(f"  {stage}{how_far(found)}, {progress['faults']} faults")
    if fills(found):
        say(
            f"  that is of a full field of {found['entry']['limit']}; {len(found['entrants'])} entered so far"
        )
    if progress["eta"]:
        say(f"  over at about {progress['eta'][:19]}Z")
    for entrant in found["entrants"]:
        say(f"  {entrant['number']:>3}  {named(entrant)} of {entrant['owner']}{_left(entrant)}")


def _played_as(found: Row) -> str:
    """Rules, tables and deals."""
    switches = [name.replace("_", " ") for name in found["rules"] if name != "preset"]
    rules = found["rules"]["preset"] + (f" with other {', '.join(switches)}" if switches else "")
    deals = f"{found['deals']} deal{'s' if found['deals'] != 1 else ''} a table"
    seats = ", each from every seat" if found["duplicate"] else ""
    return f"{rules}, {found['players']} at a table, {deals}{seats}"


def how_far(found: Row, what: str = " matches played") -> str:
    """Matches played, of how many, and how many fell away."""
    progress, most = found["progress"], "up to " if fills(found) else ""
    away = f", {progress['void']} fell away" if progress["void"] else ""
    return f"{progress['played']} of {most}{progress['total']}{what}{away}"


def fills(found: Row) -> bool:
    """Whether authors may still enter, so that `total` is that of a full field."""
    return bool(found["entry"]["open"]) and found["status"] in ("draft", "scheduled")


def _left(entrant: Row) -> str:
    if entrant["filler"]:
        return ", fills a seat, unrated"
    if entrant["status"] == "in":
        return ""
    return f", {entrant['status']}" + (f": {entrant['reason']}" if entrant["reason"] else "")


def waits_for(found: Row) -> str:
    """What starts a tournament that has not begun."""
    if found["start_at"] is None:
        return f"it waits for its organiser: rage tournament start {found['id']}"
    return f"it starts at {found['start_at'][:19]}Z"


def named(row: Row) -> str:
    """A bot with its version."""
    return row["name"] if row["version"] is None else f"{row['name']} v{row['version']}"


def report(version: Row, name: str, *, log: bool = False) -> None:
    """What a check saw, for the bot's author."""
    say(f"{name} v{version['number']} is {version['status']}")
    told = version.get("report")
    if told and version["status"] != "checking":
        for line in reports.text(told, log=log).split("\n"):
            say(line)
