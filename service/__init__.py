"""The competition: accounts, bots, tournaments, matches, rankings. SQL lives here, HTTP does not."""
