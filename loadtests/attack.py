"""A hostile bot as a value: what it does at its first decision, and which faults may come of it.

Each attack is the body of `attack()`. A bot whose attack fails without a trace goes on and plays bid 0 and
the first legal card, just what the table plays for a bot that is out; so no attack may change the neighbour's
result.
"""

from dataclasses import dataclass

PREAMBLE = """
import ctypes, fcntl, json, mmap, os, resource, signal, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)

def wire(data):
    "write to whatever could be the protocol"
    for number in range(3, 64):
        try:
            os.write(number, data)
        except OSError:
            pass

def opened(number):
    try:
        os.fstat(number)
        return True
    except OSError:
        return False
"""

PLAY = """
asked = 0

def decide(move):
    global asked
    asked += 1
    if asked == 1:
        answer = attack()
        return move if answer is None else answer
    return move

def bid(view):
    return decide(0)

def play(view):
    return decide(view["legal"][0])
"""

NO_SCRATCH = ("fill the disk", "one huge file", "fill the inodes", "set-uid", "record lock", "deep folders")
NO_NAMESPACE = ("kill process 1", "kill a host process", "ponder on others' time")
BY_MODE = {
    "B": dict.fromkeys(NO_SCRATCH, "crash"),
    # other processes are there, and refused by name; threads are refused
    "C": {**dict.fromkeys(NO_SCRATCH, "crash"), **dict.fromkeys(NO_NAMESPACE, "escape")},
}
"""What comes of an attack without a scratch space or a namespace, where that differs."""


@dataclass(frozen=True, slots=True)
class Attack:
    """`kinds`: the faults that may be recorded; `-` means that no fault at all is fine too."""

    name: str
    body: str
    kinds: str
    out: bool | None = None
    at_start: bool = False

    @property
    def source(self) -> str:
        """The whole bot."""
        lines = "\n".join("    " + line for line in self.body.strip().splitlines())
        if self.at_start:
            return f"{PREAMBLE}\nif True:\n{lines}\n{PLAY}".replace("attack()", "None")
        return f"{PREAMBLE}\ndef attack():\n{lines}\n{PLAY}"

    def allows(self, kinds: set[str], mode: str = "A") -> bool:
        """Whether these faults, and no others, are what should come of it."""
        expected = BY_MODE.get(mode, {}).get(self.name, self.kinds)
        return kinds <= set(expected.split()) and bool(kinds or "-" in expected)
