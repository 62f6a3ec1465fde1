"""A whole service for the stories: embedded broker, real workers, real sandbox, HTTP on a free port."""

import os
from collections.abc import Iterator
from uuid import uuid4

import pytest

from api.client import Client
from service.settings import Settings
from service.supervisor import Supervisor
from tests.databases import OwnDatabase

KNOWN = {"bash": "/bin/bash", "node": "/usr/bin/node"}
PRESENT = {name: path for name, path in KNOWN.items() if os.access(path, os.X_OK)}


@pytest.fixture(scope="session")
def interpreters() -> dict[str, str]:
    """What the service's bots may run on beside Python."""
    return PRESENT


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory, own_database: OwnDatabase) -> Iterator[Supervisor]:
    """Everything `rage up` starts, with house bots, on two workers."""
    environment = {
        "RAGE_DATA_DIR": str(tmp_path_factory.mktemp("service")),
        "RAGE_PORT": "0",
        "RAGE_WORKERS": "2",
        "RAGE_LEASE_SECONDS": "5",
        "RAGE_REAP_SECONDS": "1",
        "RAGE_ACCOUNTS_PER_HOUR": "100000",  # every test makes one
        "RAGE_WRITES_PER_MINUTE": "100000",
        "RAGE_REQUESTS_PER_MINUTE": "1000000",
        "RAGE_INTERPRETERS": ",".join(f"{name}={path}" for name, path in PRESENT.items()),
    }
    with own_database() as told, Supervisor(Settings.from_environment(environment | told)) as running:
        yield running


@pytest.fixture
def anyone(service: Supervisor) -> Client:
    """A client without a token."""
    return Client(service.address)


@pytest.fixture
def author(service: Supervisor) -> Client:
    """A client with an account of its own."""
    return Client(service.address, Client(service.address).register(f"author {uuid4().hex}")["token"])
