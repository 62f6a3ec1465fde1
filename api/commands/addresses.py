"""What a command is told to look at may be the address of its page, or of the API; the id is in it."""

import re

PAGE = re.compile(r"https?://[^\s?#]+/(tournaments|comparisons|matches|bots)/([^\s/?#]+)(?:[/?#]\S*)?", re.I)


def id_in(text: str, *kinds: str) -> str:
    """The id in an address of one of these kinds, such as "matches"; any other text as it is."""
    found = PAGE.fullmatch(text.strip())
    return found[2] if found and found[1] in kinds else text
