"""Where bots run: the Celery workers, the sandbox and the players on the far side of its pipes."""
