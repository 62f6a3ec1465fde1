"""Questions that are open at once, as secret bids are: each seat has its own clock and its own fault."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from engine.table import AskAll, Player, PlayerFault, Question


def ask_all(players: Sequence[Player]) -> AskAll:
    """What `engine.table.play` takes: asks all, then gives every answer, or the fault in its place."""

    def answered(question: Question) -> object:
        try:
            return players[question.seat].ask(question)
        except PlayerFault as fault:
            return fault

    def together(questions: Sequence[Question]) -> Sequence[object]:
        with ThreadPoolExecutor(max(len(questions), 1)) as threads:
            return list(threads.map(answered, questions))

    return together
