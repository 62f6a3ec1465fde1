"""The game of Rage: rules, rounds, records.

Standard library only; no I/O, clock, environment or global random.
"""

VERSION = "1"
"""Version of the rules and of the construction of deals; stored with every record."""
