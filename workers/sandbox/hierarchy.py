"""Where this process may make control groups: under version 1, under version 2, or nowhere."""

import contextlib
import os
import secrets
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

from workers.sandbox import kernel
from workers.sandbox.errors import KILLED, NO_ROOM, SandboxLate, crowded
from workers.sandbox.groups import Groups, remove

MOUNTS = Path("/proc/self/mountinfo")
OWN = Path("/proc/self/cgroup")
ASIDE = "rage-service"  # where our own processes go, if they are in the way
ROUNDS = 100


def find() -> Groups | None:
    """A place for groups that this process may write to, the service's own group first; None without one."""
    own = _own_paths()
    mounts = list(_mounts())
    places = {name: _parent(point, own.get(name, "/")) for kind, point, names in mounts for name in names}
    memory, pids, cpu = places.get("memory"), places.get("pids"), places.get("cpuacct")
    if memory and pids:
        return Groups(1, memory, pids, cpu)
    for kind, point, _ in mounts:
        if kind == "cgroup2" and (parent := _unified(point, own.get("", "/"))):
            return Groups(2, parent, parent, parent)
    return None


def _parent(point: Path, own: str) -> Path | None:
    return next((folder for folder in (point / own.lstrip("/"), point) if _can_make(folder)), None)


def _unified(point: Path, own: str) -> Path | None:
    """Under v2 a group that holds processes cannot hand out controllers: our own, its parent, or the top.

    Where only our own was handed to us (a container's, a unit's with Delegate=yes) its processes move aside.
    """
    here = point / own.lstrip("/")
    for folder in (here, here.parent, point):
        if folder.is_relative_to(point) and _hands_out(folder) and _can_make(folder):
            return folder
    top = here if here.is_dir() else point
    return top if _move_aside(top) and _hands_out(top) and _can_make(top) else None


def _hands_out(folder: Path) -> bool:
    control = folder / "cgroup.subtree_control"
    if not {"memory", "pids"} <= set(kernel.whole(control).split()):
        with contextlib.suppress(OSError):
            kernel.tell(control, "+memory +pids")
    return {"memory", "pids"} <= set(kernel.whole(control).split())


def _move_aside(folder: Path) -> bool:
    """Move every process of a group into one below, if the group could then hand out what we need."""
    if not {"memory", "pids"} <= set(kernel.whole(folder / "cgroup.controllers").split()):
        return False
    aside = folder / ASIDE
    try:
        aside.mkdir(exist_ok=True)
    except OSError:
        return False
    for _ in range(ROUNDS):  # what starts meanwhile is moved in the next
        pids = kernel.whole(folder / "cgroup.procs").split()
        if not pids:
            return True
        for pid in pids:
            with contextlib.suppress(OSError):
                kernel.tell(aside / "cgroup.procs", pid)
    return False


def _can_make(folder: Path) -> bool:
    """Whether a group can be made there and a process of ours can enter it: tried, for the rules are many.

    Raises `SandboxLate` if the machine had no room for the trial.
    """
    trial = folder / f"rage-trial-{os.getpid()}-{secrets.token_hex(4)}"
    door = trial / "cgroup.procs"
    enter = f"echo 0 > {shlex.quote(str(door))}"
    try:
        trial.mkdir()
        if not door.exists():
            return False
        entered = subprocess.run(["/bin/sh", "-c", enter], stderr=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise SandboxLate(f"{folder}: {error.strerror}") from error
        return False
    finally:
        remove(trial, seconds=0.5)
    if entered.returncode and (crowded(entered.stderr) or entered.returncode in KILLED):
        raise SandboxLate(f"{folder}: {entered.stderr.strip() or 'the trial was killed'}")
    return entered.returncode == 0


def _mounts() -> Iterator[tuple[str, Path, list[str]]]:
    """(file system, mount point, controllers) of every mounted hierarchy."""
    for line in kernel.whole(MOUNTS).splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            yield kind, Path(left.split()[4]), options.split(",") if kind == "cgroup" else []


def _own_paths() -> dict[str, str]:
    """Our own group by controller; the empty name is v2's."""
    lines = [line.split(":", 2) for line in kernel.whole(OWN).splitlines()]
    return {name: path for _, names, path in lines for name in names.split(",")}
