"""Which match each process of this worker is playing, for the process that follows one that died of it.

In memory that is made before the fork and shared, so it is there as long as the worker is, and costs nothing.
"""

import mmap

MOST_SLOTS, LENGTH = 1024, 128  # processes of a worker; bytes of a match's id, more than it can have
_notes = mmap.mmap(-1, MOST_SLOTS * LENGTH)


def note(number: int, match_id: str) -> None:
    """The process of this number begins with this match; "": it is at none."""
    if number < MOST_SLOTS:
        _notes[number * LENGTH : (number + 1) * LENGTH] = match_id.encode().ljust(LENGTH, b"\0")[:LENGTH]


def noted(number: int) -> str | None:
    """What the last process of this number was at; "": nothing, or there was none; None: nobody knows."""
    if number >= MOST_SLOTS:
        return None
    return _notes[number * LENGTH : (number + 1) * LENGTH].rstrip(b"\0").decode(errors="replace")
