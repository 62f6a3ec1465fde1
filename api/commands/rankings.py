"""`rage rankings`: who is how good."""

import click

from api import results, saved, shown


@click.command()
@click.option("--rules", default="fundex", show_default=True, help="A preset, or another pool's name.")
@click.option("--players", type=click.IntRange(2, 11), default=4, show_default=True, help="Seats at a table.")
@click.option("--at", help="As it was then, such as 2030-12-01T18:00:00Z.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def rankings(rules: str, players: int, at: str | None, as_json: bool) -> None:
    """Show the rankings of one rule set and table size."""
    client = saved.client()
    ranking = client.rankings(rules=rules, players=players, at=at)
    if as_json:
        shown.as_json(ranking)
        return
    results.rankings(ranking)
    if not ranking["items"]:
        for pool in client.pages("/rankings/pools"):
            of_it = f"--rules {pool['rules']} --players {pool['players']}"
            click.echo(f"there are rankings of: {of_it}  ({pool['matches']} matches)")
