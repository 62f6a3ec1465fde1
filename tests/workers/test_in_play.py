"""Which match a process was at, told by memory that outlives it."""

import subprocess
import sys

CODE = """
import os
from workers import in_play
child = os.fork()
if child == 0:
    in_play.note(3, "t_x-7")
    os._exit(1)
os.waitpid(child, 0)
print(in_play.noted(2) == "", in_play.noted(3) == "t_x-7", in_play.noted(in_play.MOST_SLOTS) is None)
in_play.note(in_play.MOST_SLOTS, "t_x-8")
in_play.note(3, "")
print(in_play.noted(3) == "")
"""


def test_what_a_process_that_died_was_at_is_known_to_those_that_live() -> None:
    told = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True"] * 4
