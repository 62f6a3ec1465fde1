"""The bot-free parent of one seat: runs inside the bots' own root, makes a fresh child for each bot, reports.

`forkserver` starts it with the text of this file, so it imports nothing of the service. It holds no secret
and never runs a bot's code: that happens in a child which by then has namespaces, limits and a system call
filter of its own, and none of the parent's descriptors. Orders come and reports go over one socket:

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
import ctypes
import gc
import importlib
import json
import os
import resource
import select
import struct
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

CLONE_VM, CLONE_FILES, CLONE_PIDFD = 0x100, 0x400, 0x1000
CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x0002_0000, 0x2000_0000, 0x4000_0000
CLONE_OTHERS = 0x0400_0000 | 0x0800_0000  # host name, message queues
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_RDONLY, MS_REMOUNT = 2, 4, 8, 1, 32
MS_REC, MS_PRIVATE = 0x4000, 0x4_0000
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 22, 24, 38, 47
CAP_SETPCAP, CAP_SYS_ADMIN = 8, 21
CAPABILITIES = struct.pack("Ii", 0x2008_0522, 0)  # version 3, of this process
NO_CAPABILITY = bytes(24)
SECCOMP_FILTER, SECCOMP_ASK = 1, 8
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
LANDLOCK_FILES, LANDLOCK_NETWORK, LANDLOCK_SCOPE = 0xFFFF, 3, 3  # all there is up to version 6
LANDLOCK_READ = 1 | 4 | 8  # run, read, list
SOURCE_PAGES = 16 * 4096  # beside the source itself
ORDER = 64 * 1024
DESCRIPTORS = 1024
ROOM = _socket.CMSG_SPACE(4 * 6)  # for descriptors
NAME = 4096
STACK = 16 * 1024

libc = ctypes.CDLL(None, use_errno=True)
for called in ("capset", "clone", "mount", "pause", "prctl", "setns", "syscall", "unshare", "waitid"):
    getattr(libc, called)  # looked up once, not by every child
libc.clone.restype = None


def main() -> None:
    """Serve orders until the worker closes the socket."""
    settings = json.loads(sys.argv[1])
    sys.argv[:] = [""]
    _done(libc.prctl(PR_SET_PDEATHSIG, _signal.SIGKILL, 0, 0, 0))
    _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())  # see `_Namespace`
    control = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, settings["control"])
    with os.fdopen(settings["filter"], "rb") as file:
        settings["program"] = _Program(file.read())
    settings["self"] = os.getpid()
    namespace = _Namespace() if settings["open"] is None else None
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
    control: _socket.socket, order: _Order, namespace: "_Namespace | None", settings: dict[str, Any]
) -> None:
    """One bot from its first to its last moment."""
    if namespace:
        namespace.begin()
    child = os.fork()
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


class _Namespace:
    """What a bot sees of other processes: for each one a namespace of its own, in which it is born.

    Its first process is not the bot: the kernel spares such a one its own signals, so it could not abort, nor
    die of a refused call. Nor is it a copy of us, which would cost as much as the bot: it sleeps in our very
    memory and hears no signal, as long as the bot lives. Its number never comes into that memory: it would
    tell the next bot how many there were before.
    """

    __slots__ = ("_first", "_own", "_stack", "_told", "_top")

    def __init__(self) -> None:
        _leave_networks()
        self._own = os.pidfd_open(os.getpid())
        self._stack = ctypes.create_string_buffer(STACK)
        self._top = ctypes.c_void_p((ctypes.addressof(self._stack) + STACK) & ~15)
        self._first = ctypes.c_int()
        self._told = ctypes.pointer(self._first)

    def begin(self) -> None:
        """Make one; the next child is born into it."""
        self._first.value = -1
        flags = CLONE_VM | CLONE_FILES | CLONE_PIDFD | CLONE_NEWPID | _signal.SIGCHLD
        libc.clone(libc.pause, self._top, flags, None, self._told)
        _done(self._first.value)
        _done(libc.setns(self._first, CLONE_NEWPID))

    def leave(self) -> None:
        """Have no more children in it."""
        _done(libc.setns(self._own, CLONE_NEWPID))

    def end(self) -> None:
        """With the first process the kernel ends whatever else there is."""
        _signal.pidfd_send_signal(self._first.value, _signal.SIGKILL)
        _done(libc.waitid(os.P_PIDFD, self._first, None, os.WEXITED))
        os.close(self._first.value)


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
        _end_with(0 if settings["open"] is None else settings["self"])  # 0: who is in no namespace of ours
        os.setsid()
        *streams, source = order.passed
        _take(streams)
        name = os.pread(source, NAME, 0).partition(b"\n")[0]
        if settings["open"] is None:
            _leave_host(source, len(name) + 1, settings["scratch"])
        else:
            _lock_host(more["folder"], settings["open"])
        _limit(order.limits)
        bot = sys.modules["engine.bot"]
        if "numpy" in sys.modules:  # else all bots of a seat would throw the same dice
            sys.modules["numpy.random"].seed()
        _done(libc.prctl(PR_SET_SECCOMP, 2, settings["program"].pointer, 0, 0))
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
            _done(libc.unshare(CLONE_NEWNS))
            _done(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
            _mount(told["mount"].encode(), MS_NOSUID | MS_NODEV | MS_NOEXEC, told["options"].encode())
        _limit(order.limits)
        os.setgroups([])
        os.setresgid(told["uid"], told["uid"], told["uid"])
        os.setresuid(told["uid"], told["uid"], told["uid"])
        _end_with(settings["self"])
        os.chdir("/")
    except BaseException as error:
        _give_up(control, order, error)
    control.detach()
    os.closerange(len(order.passed), DESCRIPTORS)
    _become(run)


def _end_with(above: int) -> None:
    """End with the parent, numbered `above`, which may be gone already."""
    _done(libc.prctl(PR_SET_PDEATHSIG, _signal.SIGKILL, 0, 0, 0))
    if os.getppid() != above:
        os._exit(1)


def _take(passed: Sequence[int]) -> None:
    """Number them from 0. Each had a higher number than it gets, so none is overwritten before its turn."""
    for number, descriptor in enumerate(passed):
        os.dup2(descriptor, number)


def _give_up(control: _socket.socket, order: _Order, error: BaseException) -> NoReturn:
    failed = {"number": order.number, "failed": f"{type(error).__name__}: {error}"}
    control.send(json.dumps(failed).encode())
    os._exit(1)


def written(settings: dict[str, Any]) -> str:
    """Settings as `main` reads them."""
    return json.dumps(settings)


def _leave_networks() -> None:
    """One network for all bots of the seat: no device is up in it, and none may open a socket."""
    _done(libc.unshare(CLONE_NEWNET))
    _done(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))


def _leave_host(source: int, begin: int, scratch: str | None) -> None:
    """Namespaces of its own, with nothing of the host in them."""
    _done(libc.unshare(CLONE_NEWNS | CLONE_OTHERS))
    _furnish(source, begin, scratch)
    _give_up_rights()


def _lock_host(folder: str, opened: list[list[Any]]) -> None:
    """Without namespaces: every path is shut but these, and nobody outside can be signalled or spoken to."""
    os.chdir(folder)
    _done(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    wanted = struct.pack("QQQ", LANDLOCK_FILES, LANDLOCK_NETWORK, LANDLOCK_SCOPE)
    rules = libc.syscall(LANDLOCK_CREATE, wanted, len(wanted), 0)
    _done(rules)
    for path, rights in [*opened, [folder, LANDLOCK_READ]]:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        _done(libc.syscall(LANDLOCK_ADD, rules, 1, struct.pack("=Qi", rights, place), 0))
        os.close(place)
    _done(libc.syscall(LANDLOCK_RESTRICT, rules, 0))


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


def _furnish(source: int, begin: int, scratch: str | None) -> None:
    """The bot's own file, then read-only for good, and a small scratch space."""
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    size = os.lseek(source, 0, os.SEEK_END) - begin
    _mount(b"/bot", flags, b"size=%d,nr_inodes=8,mode=0755" % (size + SOURCE_PAGES))
    file = os.open("/bot/bot.py", os.O_WRONLY | os.O_CREAT, 0o644)
    while size > 0:
        sent = os.sendfile(file, source, begin, size)
        begin, size = begin + sent, size - sent
    os.close(file)
    _mount(b"/bot", flags | MS_RDONLY | MS_REMOUNT, b"")
    if scratch:
        _mount(b"/tmp", flags, scratch.encode())
    os.chdir("/bot")


def _mount(place: bytes, flags: int, options: bytes) -> None:
    _done(libc.mount(b"rage", place, b"tmpfs", flags, options))


def _limit(limits: list[int]) -> None:
    for kind, wanted in zip(limits[::2], limits[1::2], strict=True):
        hard = resource.getrlimit(kind)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (value, value))


def _give_up_rights() -> None:
    """No capability now, none by any program to come."""
    for capability in (CAP_SYS_ADMIN, CAP_SETPCAP):  # bubblewrap took all others from the bounding set
        _done(libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0))
    _done(libc.prctl(PR_CAP_AMBIENT, 4, 0, 0, 0))  # clear all
    _done(libc.capset(CAPABILITIES, NO_CAPABILITY))
    _done(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


class _Program:
    """The filter as the kernel takes it: a count and an address."""

    def __init__(self, rules: bytes) -> None:
        self._rules = ctypes.create_string_buffer(rules, len(rules))
        head = struct.pack("HxxxxxxP", len(rules) // 8, ctypes.addressof(self._rules))
        self.pointer = ctypes.create_string_buffer(head)


def _done(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    main()
