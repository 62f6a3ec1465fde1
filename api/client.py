"""A client of the HTTP API on the standard library alone: for the command, the demo and tests."""

import json
import re
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from api.patience import Patience, silent
from api.refusals import ClientError, ProblemError, TookTooLong, Unreachable
from api.transport import Answer, Json, Transport

__all__ = ["OVER", "Answer", "Client", "ClientError", "ProblemError", "TookTooLong", "Unreachable"]

ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
OVER = ("finished", "cancelled")
LOOK_EVERY = 0.2  # seconds


class Client(Transport):
    """One server, and the token calls are made with; `say` is told when waiting outlives its restart."""

    say: Callable[[str], None] = staticmethod(silent)

    # Accounts and bots.

    def register(self, name: str) -> Json:
        """Make an account; its token is this client's from now on."""
        made = self.post("/accounts", {"name": name})
        self.token = made["token"]
        return made

    def whoami(self) -> Json:
        """Whose token this is."""
        return self.get("/accounts/me")

    def new_token(self, label: str, scopes: Collection[str]) -> Json:
        """A further token, for some purposes alone."""
        return self.post("/accounts/me/tokens", {"label": label, "scopes": list(scopes)})

    def tokens(self) -> Iterator[Json]:
        """The valid tokens, without their secrets."""
        return self.pages("/accounts/me/tokens")

    def revoke_token(self, token_id: str) -> None:
        """Make a token invalid."""
        self.call("DELETE", f"/accounts/me/tokens/{named('token', token_id)}")

    def submit(
        self, name: str, filename: str, content: bytes, *, description: str = "", public_source: bool = False
    ) -> Json:
        """Upload a new bot."""
        fields = {"name": name, "public_source": json.dumps(public_source)}
        if description:
            fields["description"] = description
        return self.send_form("/bots", fields, filename, content)

    def submit_file(self, path: str | Path, name: str | None = None, **options: Any) -> Json:
        """Upload a file as a new bot, by default under the file's name."""
        file = Path(path)
        return self.submit(name or file.stem, file.name, file.read_bytes(), **options)

    def add_version(self, bot_id: str, filename: str, content: bytes) -> Json:
        """Upload the next version of a bot."""
        return self.send_form(f"/bots/{named('bot', bot_id)}/versions", {}, filename, content)

    def change(self, bot_id: str, **about: Any) -> Json:
        """Give a bot another `description` or `public_source`."""
        return self.patch(f"/bots/{named('bot', bot_id)}", about)

    def bots(self, **query: Any) -> Iterator[Json]:
        """Bots, newest first; `owner`, `name`, `status` choose."""
        return self.pages("/bots", **query)

    def bot(self, bot_id: str) -> Json:
        """One bot with its versions."""
        return self.get(f"/bots/{named('bot', bot_id)}")

    def version(self, bot_id: str, number: int) -> Json:
        """One version, with the report of its check."""
        return self.get(f"/bots/{named('bot', bot_id)}/versions/{number}")

    def code(self, bot_id: str, number: int) -> bytes:
        """The upload as it was sent."""
        return self.read(f"/bots/{named('bot', bot_id)}/versions/{number}/code").content

    def faults(self, bot_id: str, number: int) -> Iterator[Json]:
        """What went wrong in matches."""
        return self.pages(f"/bots/{named('bot', bot_id)}/versions/{number}/faults")

    def retire(self, bot_id: str) -> None:
        """Enter it no more."""
        self.call("DELETE", f"/bots/{named('bot', bot_id)}")

    def rating_history(self, bot_id: str, **query: Any) -> list[Json]:
        """A bot's ratings after each tournament; `model`, `rules` and `players` choose."""
        return list(self.get(f"/bots/{named('bot', bot_id)}/rating", **query)["items"])

    def wait_ready(self, bot_id: str, number: int | None = None, *, seconds: float = 60.0) -> Json:
        """The version once its check is done, ready or rejected; by default the newest."""
        chosen = number or self.bot(bot_id)["version"]
        return self._wait(
            lambda: self.version(bot_id, chosen),
            lambda version: version["status"] != "checking",
            seconds,
            f"the check of {bot_id} is not done",
        )

    # Tournaments and matches.

    def create_tournament(self, **spec: Any) -> Json:
        """Make a tournament; the fields are those of the API."""
        return self.post("/tournaments", spec)

    def plan_tournament(self, **spec: Any) -> Json:
        """What a tournament would be; makes nothing."""
        return self.post("/tournaments?dry_run=true", spec)

    def tournaments(self, **query: Any) -> Iterator[Json]:
        """Tournaments, newest first."""
        return self.pages("/tournaments", **query)

    def tournament(self, tournament_id: str) -> Json:
        """One tournament with entrants and progress."""
        return self.get(f"/tournaments/{named('tournament', tournament_id)}")

    def start(self, tournament_id: str) -> Json:
        """Start it now."""
        return self.post(f"/tournaments/{named('tournament', tournament_id)}/start")

    def pause(self, tournament_id: str) -> Json:
        """Begin no more matches for now."""
        return self.post(f"/tournaments/{named('tournament', tournament_id)}/pause")

    def resume(self, tournament_id: str) -> Json:
        """Go on."""
        return self.post(f"/tournaments/{named('tournament', tournament_id)}/resume")

    def cancel(self, tournament_id: str) -> Json:
        """Stop it for good."""
        return self.post(f"/tournaments/{named('tournament', tournament_id)}/cancel")

    def stop(self, tournament_id: str) -> Json:
        """Let a ladder end."""
        return self.post(f"/tournaments/{named('tournament', tournament_id)}/stop")

    def edit(self, tournament_id: str, **changes: Any) -> Json:
        """Change a tournament before its start."""
        return self.patch(f"/tournaments/{named('tournament', tournament_id)}", changes)

    def enter(self, tournament_id: str, entrant: str) -> Json:
        """Enter a bot, or BOT:VERSION."""
        return self.post(f"/tournaments/{named('tournament', tournament_id)}/entrants", {"entrant": entrant})

    def withdraw(self, tournament_id: str, bot_id: str) -> None:
        """Take a bot out."""
        path = f"/tournaments/{named('tournament', tournament_id)}/entrants/{named('bot', bot_id)}"
        self.call("DELETE", path)

    def disqualify(self, tournament_id: str, bot_id: str, reason: str) -> Json:
        """Take another's bot out, for a reason that all are told."""
        path = f"/tournaments/{named('tournament', tournament_id)}/entrants/{named('bot', bot_id)}/disqualify"
        return self.post(path, {"reason": reason})

    def standings(self, tournament_id: str) -> list[Json]:
        """Who stands where."""
        return list(self.get(f"/tournaments/{named('tournament', tournament_id)}/standings")["items"])

    def crosstable(self, tournament_id: str) -> list[Json]:
        """Every pair of entrants."""
        return list(self.get(f"/tournaments/{named('tournament', tournament_id)}/crosstable")["items"])

    def fairness(self, tournament_id: str) -> Json:
        """Whether it was fair."""
        return self.get(f"/tournaments/{named('tournament', tournament_id)}/fairness")

    def events(self, tournament_id: str, *, after: str | None = None) -> Iterator[Json]:
        """Events as they happen, `id`, `type` and `data`, until the tournament is over or the line breaks."""
        headers = {"Last-Event-ID": after} if after else {}
        return self.stream(f"/tournaments/{named('tournament', tournament_id)}/events", headers)

    def wait_over(
        self,
        tournament_id: str,
        *,
        seconds: float = 600.0,
        seen: Callable[[Json], None] = lambda tournament: None,
    ) -> Json:
        """The tournament once it is over; `seen` gets it every time it was looked at."""

        def over(tournament: Json) -> bool:
            seen(tournament)
            return tournament["status"] in OVER

        return self._wait(
            lambda: self.tournament(tournament_id), over, seconds, f"tournament {tournament_id} is not over"
        )

    def create_comparison(self, **told: Any) -> Json:
        """Find out whether `a` is better than `b`; the fields are those of the API."""
        return self.post("/comparisons", told)

    def comparison(self, comparison_id: str) -> Json:
        """One comparison and where its test stands."""
        return self.get(f"/comparisons/{named('comparison', comparison_id)}")

    def comparisons(self) -> Iterator[Json]:
        """Comparisons, newest first."""
        return self.pages("/comparisons")

    def cancel_comparison(self, comparison_id: str) -> Json:
        """Stop it without a verdict."""
        return self.post(f"/comparisons/{named('comparison', comparison_id)}/cancel")

    def matches(self, tournament_id: str, **query: Any) -> Iterator[Json]:
        """A tournament's matches in the order of its schedule."""
        return self.pages(f"/tournaments/{named('tournament', tournament_id)}/matches", **query)

    def match(self, match_id: str) -> Json:
        """One match."""
        return self.get(f"/matches/{named('match', match_id)}")

    def record(self, match_id: str) -> Json:
        """The whole game."""
        return self.get(f"/matches/{named('match', match_id)}/record")

    def rankings(self, *, rules: str = "fundex", players: int = 4, **query: Any) -> Json:
        """The rankings of one pool, whole; `model`, `at`, `anchor`, `owner` and more choose."""
        asked = {"rules": rules, "players": players, **query, "limit": 200}
        found = self.get("/rankings", **asked)
        following = found["next"]
        while following:
            page = self.get("/rankings", **asked, cursor=following)
            found["items"] += page["items"]
            following = page["next"]
        return {**found, "next": None}

    def compare(self, a: str, b: str, **pool: Any) -> Json:
        """Whether bot a is better than b; each a bot's id, or BOT:VERSION."""
        return self.get("/rankings/compare", a=a, b=b, **pool)

    def wait_rated(self, bots: Collection[str], *, seconds: float = 30.0, **pool: Any) -> Json:
        """The rankings once all of these bots are in them."""
        return self._wait(
            lambda: self.rankings(**pool),
            lambda ranking: set(bots) <= {line["bot_id"] for line in ranking["items"]},
            seconds,
            "the bots are not rated",
        )

    def _wait(
        self, look: Callable[[], Json], done: Callable[[Json], bool], seconds: float, otherwise: str
    ) -> Json:
        limit, patience = time.monotonic() + seconds, Patience(self.say)
        while True:
            found = patience.ask(look)
            if done(found):
                return found
            if time.monotonic() > limit:
                raise TookTooLong(f"{otherwise} after {seconds:.0f} s")
            time.sleep(LOOK_EVERY)


def named(kind: str, text: str) -> str:
    """An id as it stands in a path; raises `ClientError` for what cannot be one, which nothing has."""
    if not ID.fullmatch(text):
        raise ClientError(f"no {kind} {text}")
    return text
