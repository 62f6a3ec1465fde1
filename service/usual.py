"""What a tournament is where its organiser says nothing else: for the API, the command and the page alike."""

FORMAT = "round_robin"
PRESET = "fundex"
PLAYERS = 4  # seats at a table
DEALS = 1  # that each table plays
DUPLICATE = True  # each deal once from every seat
MEETINGS = 1  # tables that every pair shares, at least
