"""The bot-free parent of one seat: runs inside the bots' own root, makes a fresh child for each bot, reports.

It is started with the text that `inside` joins. It holds no secret and never runs a bot's code: that happens
in a child which by then has namespaces, limits and a system call filter of its own, and none of the parent's
descriptors. Orders come and reports go over one socket:

    < number limit value limit value ...            and the bot's stdin, stdout, stderr and source
    > {"number"}                                    and a descriptor of the bot
    > {"number", "failed"}                          the child could not be walled in
    > {"number", "status", "cpu_ns", "memory_kb"}   all of it has ended

The source comes with the bot's name as its first line: what the parent itself reads the next bot could find.
Where namespaces are not to be had, Landlock stands in for them: a second line of the order, in JSON, then
names the bot's `folder`, and what to `run` in it if it is no Python file.

Between two forks it does as little as it can, by the plainest means: each page that it or a child touches is
copied then, and that is most of what a bot's start costs. It makes and changes no dictionary there either:
Python counts all changes of all of them, and a bot that read the count would know how many there were before.
"""

import _signal  # type: ignore[import-not-found]  # the whole `signal` makes an enum of every number it gives
import _socket  # the whole `socket` would be a hundred pages in every bot
import gc
import importlib
import json
import os
import select
import struct
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from workers.sandbox.walls import (
    CLONE_NEWNS,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_REC,
    PR_SET_PDEATHSIG,
    Namespace,
    Program,
    done,
    end_with,
    leave_host,
    libc,
    limit,
    lock_host,
    mount,
)

PR_SET_SECCOMP, SECCOMP_FILTER, SECCOMP_ASK = 22, 1, 8
ORDER = 64 * 1024
DESCRIPTORS = 1024
ROOM = _socket.CMSG_SPACE(4 * 6)  # for descriptors
NAME = 4096


def main() -> None:
    """Serve orders until the worker closes the socket."""
    settings = json.loads(sys.argv[1])
    sys.argv[:] = [""]
    done(libc.prctl(PR_SET_PDEATHSIG, _signal.SIGKILL, 0, 0, 0))
    _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())  # see `Namespace`
    control = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, settings["control"])
    with os.fdopen(settings["filter"], "rb") as file:
        settings["program"] = Program(file.read())
    settings["self"] = os.getpid()
    namespace = Namespace() if settings["open"] is None else None
    _warm(settings["warm"])
    _say_ready(control, settings)
    while order := _Order.next(control):
        _serve(control, order, namespace, settings)


def _say_ready(control: _socket.socket, settings: dict[str, Any]) -> None:
    """With it goes, if the worker wants to be asked, where: by a filter that all below us share."""
    asked = -1
    if settings["ask"]:
        asked = libc.syscall(settings["ask"], SECCOMP_FILTER, SECCOMP_ASK, settings["program"].pointer)
    if asked < 0:
        control.send(b'{"ready":true}')
        return
    control.sendmsg([b'{"ready":true}'], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", asked))])
    os.close(asked)


def _warm(names: list[str]) -> None:
    """What every bot would import for itself, imported once.

    `random` would throw dice for its state in every child, twice; the bot's side gives it the match's seed.
    """
    register, os.register_at_fork = os.register_at_fork, lambda **_: None
    for name in names:
        importlib.import_module(name)
    os.register_at_fork = register
    if "engine.rehearsal" in names:
        sys.modules["engine.rehearsal"].rehearse()
    gc.collect()
    gc.freeze()  # or each child's collector would write to, and so copy, every page


class _Order:
    """A bot to be made."""

    __slots__ = ("_more", "limits", "number", "passed")

    @classmethod
    def next(cls, control: _socket.socket) -> "_Order | None":
        """The next one; None once the worker is gone."""
        data, passed, _, _ = control.recvmsg(ORDER, ROOM, _socket.MSG_CMSG_CLOEXEC)
        return cls(data, passed) if data else None

    def __init__(self, data: bytes, passed: list[tuple[int, int, bytes]]) -> None:
        first, _, self._more = data.partition(b"\n")
        self.number, *limits = map(int, first.split())
        self.limits = limits
        ((_, _, content),) = passed
        self.passed = struct.unpack(f"{len(content) // 4}i", content)

    def more(self) -> dict[str, Any]:
        """Its second line; for the child alone to read."""
        return dict(json.loads(self._more)) if self._more else {}


def _serve(
    control: _socket.socket, order: _Order, namespace: "Namespace | None", settings: dict[str, Any]
) -> None:
    """One bot from its first to its last moment."""
    try:
        if namespace:
            namespace.begin()
        child = os.fork()
    except OSError as error:
        _give_up(control, order, error)
    if not child:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
        if "usher" in (more := order.more()):
            _usher(control, order, more, settings)
        _wall_in(control, order, more, settings)
    if namespace:
        namespace.leave()
    for descriptor in order.passed:
        os.close(descriptor)
    watched = os.pidfd_open(child)
    told = b'{"number":%d}' % order.number
    control.sendmsg([told], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", watched))])
    _wait(control, watched)
    os.close(watched)
    _, status, spent = os.wait4(child, 0)
    if namespace:
        namespace.end()
    cpu_ns = int((spent.ru_utime + spent.ru_stime) * 1e9)
    report = b'{"number":%d,"status":%d,"cpu_ns":%d,"memory_kb":%d}'
    control.send(report % (order.number, _told(status), cpu_ns, spent.ru_maxrss))


def _wait(control: _socket.socket, watched: int) -> None:
    """Until the child has ended; a worker that is gone ends us, and with us the child."""
    worker = control.fileno()
    if worker in select.select([watched, worker], [], [])[0]:  # nothing is ordered before we report
        os._exit(0)


def _wall_in(
    control: _socket.socket, order: _Order, more: dict[str, Any], settings: dict[str, Any]
) -> NoReturn:
    """The child's way from parent to bot; the bot's code runs last, with nothing left to give away."""
    try:
        end_with(0 if settings["open"] is None else settings["self"])  # 0: who is in no namespace of ours
        os.setsid()
        *streams, source = order.passed
        _take(streams)
        name = os.pread(source, NAME, 0).partition(b"\n")[0]
        if settings["open"] is None:
            leave_host(source, len(name) + 1, settings["scratch"])
        else:
            lock_host(more["folder"], settings["open"])
        limit(order.limits)
        bot = sys.modules["engine.bot"]
        if "numpy" in sys.modules:  # else all bots of a seat would throw the same dice
            sys.modules["numpy.random"].seed()
        done(libc.prctl(PR_SET_SECCOMP, 2, settings["program"].pointer, 0, 0))
    except BaseException as error:
        _give_up(control, order, error)
    control.detach()
    os.closerange(3, DESCRIPTORS)
    if more.get("run"):
        _become(more["run"])
    sys.argv[:] = ["-c", name.decode()]
    try:
        bot.main()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(1)


def _usher(
    control: _socket.socket, order: _Order, more: dict[str, Any], settings: dict[str, Any]
) -> NoReturn:
    """The child's way from a seat's usher to its bubblewrap, which does the walling in."""
    told, run = more["usher"], more["run"]
    try:
        os.setsid()
        _take(order.passed)
        if told["mount"]:
            done(libc.unshare(CLONE_NEWNS))
            done(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
            mount(told["mount"].encode(), MS_NOSUID | MS_NODEV | MS_NOEXEC, told["options"].encode())
        limit(order.limits)
        os.setgroups([])
        os.setresgid(told["uid"], told["uid"], told["uid"])
        os.setresuid(told["uid"], told["uid"], told["uid"])
        end_with(settings["self"])
        os.chdir("/")
    except BaseException as error:
        _give_up(control, order, error)
    control.detach()
    os.closerange(len(order.passed), DESCRIPTORS)
    _become(run)


def _take(passed: Sequence[int]) -> None:
    """Number them from 0. Each had a higher number than it gets, so none is overwritten before its turn."""
    for number, descriptor in enumerate(passed):
        os.dup2(descriptor, number)


def _give_up(control: _socket.socket, order: _Order, error: BaseException) -> NoReturn:
    failed = {"number": order.number, "failed": f"{type(error).__name__}: {error}"}
    control.send(json.dumps(failed).encode())
    os._exit(1)


def _become(run: list[str]) -> NoReturn:
    """The archive's own program; that it cannot be run is its author's to learn."""
    try:
        os.execv(run[0], run)  # noqa: S606 - inside all walls
    except OSError as error:
        os.write(2, f"{run[0]}: {error.strerror}\n".encode(errors="backslashreplace"))
        os._exit(127)


def _told(status: int) -> int:
    """As a shell tells it: 128 and the signal, or the exit status."""
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


if __name__ == "__main__":
    main()
