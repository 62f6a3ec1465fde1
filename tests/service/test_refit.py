"""Fitting anew: a function of results alone, by one desk at a time, kept in snapshots that never change."""

import json
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, func, select, update

from service import bots, counts, leases, rankings, refit, stages, tables, tournaments
from service.accounts import Account
from service.leases import Assignment
from service.rating_models import MODELS
from service.work import Arena
from tests.service.conftest import played as played_here  # type: ignore[import-not-found]
