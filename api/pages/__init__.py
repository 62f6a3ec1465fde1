"""The web pages: HTML out of the same verbs as the API's, with nothing that comes from elsewhere.

`site` has what all pages share; the other files are a page or a few each.
"""

from api.pages import accounts, bots, compare, docs, home, matches, organise, rankings, submit, tournaments
from api.pages.site import ABOUT, blp

PAGES = (home, tournaments, matches, rankings, bots, accounts, submit, organise, compare, docs)
__all__ = ["ABOUT", "PAGES", "blp"]
