"""The Celery application of `celery -A service.clock beat`: it sends the ticks and loads nothing beside."""

import os
from typing import Any

from celery.signals import setup_logging

from service import log
from service.jobs import celery_app
from service.settings import Settings

settings = Settings.from_environment(os.environ)
app = celery_app(settings)


@setup_logging.connect
def _log(**_: Any) -> None:
    log.setup(settings.log_level)
