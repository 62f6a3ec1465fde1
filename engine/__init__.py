"""The game of Rage: rules, rounds, records.

Standard library only; no I/O, clock, environment or global random.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    COMPILED: bool

VERSION = "1"
"""Version of the rules and of the construction of deals; stored with every record."""


def __getattr__(name: str) -> bool:
    """`COMPILED`: whether the hot modules are those of a `RAGE_COMPILE=1` build; looked up when asked."""
    if name != "COMPILED":
        raise AttributeError(name)
    from engine import trick

    return not trick.__file__.endswith(".py")
