"""An author's functions: found in a module or a class, asked by kind of question, with defaults.

Both ways to write a bot in Python meet here, in this process and behind a pipe alike.
"""

# A fresh process imports this in every match, so it imports next to nothing.
from __future__ import annotations

from engine.errors import EngineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    View = dict[str, Any]


class AuthorError(EngineError):
    """The code holds no bot."""


class Author:
    """A bot's functions. Exceptions in them pass through: whose fault they are is the caller's to say."""

    def __init__(
        self,
        *,
        bid: Callable[[View], object],
        play: Callable[[View], object],
        choose_trump: Callable[[View], object] | None = None,
        challenge: Callable[[View], object] | None = None,
        start: Callable[[Mapping[str, Any]], object] | None = None,
        end: Callable[[Mapping[str, Any]], object] | None = None,
    ) -> None:
        self._answers: dict[str, Callable[[View], object]] = {
            "bid": bid,
            "play": play,
            "trump": choose_trump or most_held_colour,
            "challenge": challenge or never,
        }
        self._start, self._end = start, end

    @classmethod
    def of(cls, code: Any) -> Author:
        """The bot in a module: an instance of its class `Bot` if it has one, else its functions.

        `code` may also be such a class, or an object with the methods. Raises `AuthorError`.
        """
        found = getattr(code, "Bot", code)
        bot = found() if isinstance(found, type) else found
        for needed in ("bid", "play"):
            if not callable(getattr(bot, needed, None)):
                raise AuthorError(f"a bot needs a function {needed}(view)")
        optional = ("choose_trump", "challenge", "start", "end")
        return cls(bid=bot.bid, play=bot.play, **{name: getattr(bot, name, None) for name in optional})

    def start(self, start: Mapping[str, Any]) -> None:
        """Tell the bot what the match is."""
        if self._start:
            self._start(start)

    def answer(self, kind: str, view: View) -> object:
        """What the bot says to a question; `view` holds `legal`, and `pile` where it may be seen."""
        return self._answers[kind](view)

    def end(self, result: Mapping[str, Any]) -> None:
        """Tell the bot how the match ended."""
        if self._end:
            self._end(result)


def most_held_colour(view: View) -> object:
    """The legal colour with most cards in the hand; of equals the first."""
    held = [card[0] for card in view["hand"] if card[1:].isdigit()]
    return max(view["legal"], key=held.count)


def never(view: View) -> object:
    """No challenge."""
    return False
