"""What a tournament or comparison is where nothing else is said: one place for API, command and page."""

FORMAT = "round_robin"
PRESET = "fundex"
PLAYERS = 4  # seats at a table
DEALS = 1  # that each table plays
DUPLICATE = True  # each deal once from every seat
MEETINGS = 1  # tables that every pair shares, at least

# Of a comparison of two bots.
SEATS = 2
ELO0, ELO1 = 0.0, 20.0  # better by that at most, or at least
RISK = 0.05  # of a wrong yes, and of a wrong no
CAP = 2_000  # deals at the most
