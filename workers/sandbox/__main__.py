"""`python -m workers.sandbox`: what the sandbox is on this machine, as JSON, or what keeps it away."""

import json
import os
import sys

from service.settings import Settings, SettingsError
from workers.sandbox import Sandbox, SandboxError, SandboxLate


def main() -> int:
    try:
        settings = Settings.from_environment(os.environ)
        chosen = settings.sandbox_python
        sandbox = Sandbox.probe(python=str(chosen) if chosen else None, interpreters=settings.interpreters)
    except (SettingsError, SandboxError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return os.EX_TEMPFAIL if isinstance(error, SandboxLate) else 1
    print(json.dumps(sandbox.description()))
    sandbox.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
