"""Shapes of what an operator asks."""

from api.schemas.fields import Answer, choice, flag, many, moment, text, texts


class WorkerAnswer(Answer):
    """A worker that was heard of lately."""

    name = text("which", "players@host:1234")
    mode = text("the sandbox it has; null: it cannot run bots", "A", null=True)
    seen_at = moment("when it was last heard of")


class ReadyAnswer(Answer):
    """Whether all that is needed is there."""

    ok = flag("whether it is", True)
    database = choice("the database", ("ok", "away"))
    broker = choice("the broker", ("ok", "away"))
    workers = many(WorkerAnswer, "those heard of lately")
    trouble = texts("what is missing, a sentence each", ())
