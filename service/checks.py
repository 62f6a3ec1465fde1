"""What must hold before anything starts, and what to do when it does not; `rage up` and the doctor ask."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from service.settings import Settings

LEAST_DISK = 200 << 20  # bytes
SANDBOX_SECONDS = 600.0  # it gives up by itself before that
PROMPT = 2.0  # seconds after which somebody who waits is told why


class Unfit(Exception):
    """Something is missing here; the text says what, and what to do about it."""


def data_directory(directory: Path) -> None:
    """Makes it if need be, for the owner's eyes only, and tries to write into it."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("run", "logs"):
            (directory / name).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise _unwritable(directory, error) from error
    writable(directory)


def writable(directory: Path) -> None:
    """Tries to write where the directory is, or would be made; leaves nothing behind."""
    try:
        with tempfile.TemporaryFile(dir=standing(directory)) as file:
            file.write(b"rage")
    except OSError as error:
        raise _unwritable(directory, error) from error


def standing(directory: Path) -> Path:
    """The directory, or the nearest above it that is there."""
    return next(each for each in (directory, *directory.parents) if os.path.exists(each))


def _unwritable(directory: Path, error: OSError) -> Unfit:
    return Unfit(
        f"Cannot write into the data directory {directory} ({error.strerror or error}). Choose another with "
        "--data-dir or RAGE_DATA_DIR, or give yourself the right to write there."
    )


def disk(directory: Path) -> int:
    """Free bytes where the data is kept, or will be; too few are refused."""
    free = shutil.disk_usage(standing(directory)).free
    if free < LEAST_DISK:
        raise Unfit(
            f"Only {free >> 20} MiB are free in {directory}; make room, at least {LEAST_DISK >> 20} MiB."
        )
    return free


def free_port(host: str, port: int) -> int:
    """The port if it can be listened on; for 0 one that is free now."""
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
            return int(listener.getsockname()[1])
    except socket.gaierror as error:
        raise Unfit(
            f"{host} is no address of this machine; choose another with --host or RAGE_HOST."
        ) from error
    except OSError as error:
        raise Unfit(_port_trouble(host, port, error)) from error


def _port_trouble(host: str, port: int, error: OSError) -> str:
    if isinstance(error, PermissionError):
        return f"Port {port} needs special rights; choose one from 1024 on with --port or RAGE_PORT."
    if error.errno == 98:  # EADDRINUSE
        return (
            f"Port {port} on {host} is taken by another program (`ss -ltnp` shows which). "
            "Stop it, or choose another port with --port or RAGE_PORT; --port 0 takes a free one."
        )
    return f"Cannot listen on {host} port {port}: {error.strerror}. Choose others with --host and --port."


def sandbox(
    environ: Mapping[str, str], directory: Path, still: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """What the sandbox says about itself after running a bot for trial.

    It is asked as a program of its own: this package may not know the workers. While it takes long `still` is
    called every now and then; what that raises ends it.
    """
    argv, here = [sys.executable, "-P", "-m", "workers.sandbox"], directory if directory.is_dir() else "/"
    pipe = subprocess.PIPE
    with subprocess.Popen(
        argv, env=dict(environ), cwd=here, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as trial:
        try:
            said, complaint = _outcome(trial, still)
        except BaseException:
            trial.kill()
            raise
    if trial.returncode != 0:
        reason = (complaint.strip().splitlines() or [f"it ended with status {trial.returncode}"])[-1]
        late = trial.returncode == os.EX_TEMPFAIL
        raise Unfit(reason if late else f"Bots cannot be run safely on this machine: {reason}")
    return dict(json.loads(said))


def _outcome(trial: subprocess.Popen[str], still: Callable[[], None]) -> tuple[str, str]:
    """What it wrote, when it has ended."""
    until = time.monotonic() + SANDBOX_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return trial.communicate(timeout=PROMPT)
        still()
    raise Unfit(f"The sandbox did not finish its trial in {SANDBOX_SECONDS:.0f} s; is this machine busy?")


def environment(settings: Settings, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """For child programs: what we were given, and the settings as they were read."""
    return {**environ, **settings.environment(), "PYTHONUNBUFFERED": "1"}
