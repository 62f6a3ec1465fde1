"""What runs inside the bots' own root, where nothing of the service is: the text of our files, joined to one.

`walls` comes first, `parent` after it; the line by which one imports from the other falls away. What they
import beside that is the standard library.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from workers.sandbox import parent, walls

OURS = re.compile(r"^from workers\.\S+ import (\([^)]*\)|.*)\n", re.MULTILINE)


@cache
def text() -> str:
    """A program for Python's `-c`."""
    return "\n".join(OURS.sub("", Path(str(part.__file__)).read_text()) for part in (walls, parent))


def command(python: list[str], settings: dict[str, Any]) -> list[str]:
    """How a parent with these settings is started."""
    return [*python, "-S", "-c", text(), json.dumps(settings)]
