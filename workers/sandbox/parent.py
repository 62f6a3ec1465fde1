"""The bot-free parent of one seat: runs inside the bots' own root, makes a fresh child for each bot, reports.

`forkserver` starts it with the text of this file, so it imports nothing of the service. It holds no secret
and never runs a bot's code: that happens in a child which by then has namespaces, limits and a system call
filter of its own, and none of the parent's descriptors. Orders come and reports go over one socket:

    < {"number", "limits"}                          and the bot's stdin, stdout, stderr and source
    > {"number", "pid"}                             and a descriptor of its namespace's first process
    > {"number", "failed"}                          the child could not be walled in
    > {"number", "status", "cpu_ns", "memory_kb"}   all of it has ended

The source comes with the bot's name as its first line: what the parent itself reads the next bot could find.
Where namespaces are not to be had, Landlock stands in for them: the order then names the bot's `folder`, and
what to `run` in it if it is no Python file.
"""

import _socket  # the whole `socket` would be a hundred pages in every bot
import ctypes
import gc
import importlib
import json
import os
import resource
import select
import signal
import struct
import sys
from typing import Any, NoReturn

CLONE_NEWNS, CLONE_NEWPID = 0x0002_0000, 0x2000_0000
CLONE_OTHERS = 0x0400_0000 | 0x0800_0000 | 0x4000_0000  # host name, message queues, network
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_RDONLY, MS_REMOUNT = 2, 4, 8, 1, 32
MS_REC, MS_PRIVATE = 0x4000, 0x4_0000
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 22, 24, 38, 47
CAP_SETPCAP, CAP_SYS_ADMIN = 8, 21
CAPABILITY_VERSION = 0x2008_0522
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
LANDLOCK_FILES, LANDLOCK_NETWORK, LANDLOCK_SCOPE = 0xFFFF, 3, 3  # all there is up to version 6
LANDLOCK_READ = 1 | 4 | 8  # run, read, list
SOURCE_PAGES = 16 * 4096  # beside the source itself
ORDER = 64 * 1024
DESCRIPTORS = 1024
MOST_PASSED = 6
NAME = 4096

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Serve orders until the worker closes the socket."""
    settings = json.loads(sys.argv[1])
    sys.argv[:] = [""]
    _done(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    control = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, settings["control"])
    with os.fdopen(settings["filter"], "rb") as file:
        rules = file.read()
    _warm(settings["warm"])
    own = os.pidfd_open(os.getpid())
    control.send(b'{"ready":true}')
    while data := _order(control):
        _serve(control, own, *data, rules, settings)


def _warm(names: list[str]) -> None:
    """What every bot would import for itself, imported once.

    `random` would throw dice for its state in every child, twice; the bot's side gives it the match's seed.
    """
    register, os.register_at_fork = os.register_at_fork, lambda **_: None
    for name in names:
        importlib.import_module(name)
    os.register_at_fork = register
    gc.collect()
    gc.freeze()  # or each child's collector would write to, and so copy, every page


def _order(control: _socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """An order and its descriptors; None once the worker is gone."""
    room = _socket.CMSG_SPACE(4 * MOST_PASSED)
    data, passed, _, _ = control.recvmsg(ORDER, room, _socket.MSG_CMSG_CLOEXEC)
    if not data:
        return None
    content = b"".join(content for _, _, content in passed)
    return json.loads(data), list(struct.unpack(f"{len(content) // 4}i", content))


def _serve(
    control: _socket.socket,
    own: int,
    order: dict[str, Any],
    passed: list[int],
    rules: bytes,
    settings: dict[str, Any],
) -> None:
    """One bot from its first to its last moment."""
    apart = settings["open"] is None
    if apart:
        _done(libc.unshare(CLONE_NEWPID))
    child = os.fork()
    if not child and "usher" in order:
        _usher(control, order, passed)
    if not child:
        _wall_in(control, order, passed, rules, settings)
    if apart:
        _done(libc.setns(own, CLONE_NEWPID))  # the next child gets a namespace of its own again
    for descriptor in passed:
        os.close(descriptor)
    watched = os.pidfd_open(child)
    told = json.dumps({"number": order["number"], "pid": child}).encode()
    control.sendmsg([told], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", watched))])
    _wait(control, watched)
    os.close(watched)
    _, status, spent = os.wait4(child, 0)
    report = {
        "number": order["number"],
        "status": _told(status),
        "cpu_ns": int((spent.ru_utime + spent.ru_stime) * 1e9),
        "memory_kb": spent.ru_maxrss,
    }
    control.send(json.dumps(report).encode())


def _wait(control: _socket.socket, watched: int) -> None:
    """Until the child has ended; a worker that is gone ends us, and with us the child."""
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    poll.register(control.fileno(), select.POLLHUP)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if control.fileno() in ready:
            os._exit(0)
        if watched in ready:
            return


def _wall_in(
    control: _socket.socket,
    order: dict[str, Any],
    passed: list[int],
    rules: bytes,
    settings: dict[str, Any],
) -> NoReturn:
    """The child's way from parent to bot; the bot's code runs last, with nothing left to give away."""
    try:
        _done(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
        os.setsid()
        for number, descriptor in enumerate(passed[:3]):
            os.dup2(descriptor, number)
        if settings["open"] is None:
            _leave_host(passed[3], settings)
        else:
            _lock_host(order["folder"], settings["open"])
        _limit(order)
        program = _Program(rules)
        bot = sys.modules["engine.bot"]
        if "numpy" in sys.modules:  # else all bots of a seat would throw the same dice
            sys.modules["numpy.random"].seed()
        name = _name(passed[3])
        _done(libc.prctl(PR_SET_SECCOMP, 2, program.pointer, 0, 0))
    except BaseException as error:
        failed = {"number": order["number"], "failed": f"{type(error).__name__}: {error}"}
        control.send(json.dumps(failed).encode())
        os._exit(1)
    control.detach()
    os.closerange(3, DESCRIPTORS)
    if order.get("run"):
        _become(order["run"])
    sys.argv[:] = ["-c", name]
    try:
        bot.main()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(1)


def _usher(control: _socket.socket, order: dict[str, Any], passed: list[int]) -> NoReturn:
    """The child's way from a seat's usher to its bubblewrap, which does the walling in.

    Whatever is passed has a higher number than it gets, so none is overwritten before its turn.
    """
    told, run = order["usher"], order["run"]
    try:
        os.setsid()
        for number, descriptor in enumerate(passed):
            os.dup2(descriptor, number)
        if told["mount"]:
            _done(libc.unshare(CLONE_NEWNS))
            _done(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
            _mount(told["mount"], MS_NOSUID | MS_NODEV | MS_NOEXEC, told["options"])
        _limit(order)
        os.setgroups([])
        os.setresgid(told["uid"], told["uid"], told["uid"])
        os.setresuid(told["uid"], told["uid"], told["uid"])
        _done(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
        os.chdir("/")
    except BaseException as error:
        failed = {"number": order["number"], "failed": f"{type(error).__name__}: {error}"}
        control.send(json.dumps(failed).encode())
        os._exit(1)
    control.detach()
    os.closerange(len(passed), DESCRIPTORS)
    _become(run)


def written(settings: dict[str, Any]) -> str:
    """Settings as `main` reads them."""
    return json.dumps(settings)


def _leave_host(source: int, settings: dict[str, Any]) -> None:
    """Namespaces of its own, with nothing of the host in them."""
    _done(libc.unshare(CLONE_NEWNS | CLONE_OTHERS))
    _done(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
    _furnish(source, scratch=settings["scratch"])
    _give_up_rights()
    _become_second()


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


def _become_second() -> None:
    """Leave the namespace's first process behind, which only waits.

    The kernel spares a first process its own signals: it could not abort, nor die of a refused call.
    """
    child = os.fork()
    if child:
        os.closerange(0, DESCRIPTORS)
        _, status = os.waitpid(child, 0)
        os._exit(_told(status))


def _told(status: int) -> int:
    """As a shell tells it: 128 and the signal, or the exit status."""
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _furnish(source: int, *, scratch: dict[str, int] | None) -> None:
    """The bot's own file, then read-only for good, and a small scratch space."""
    begin = len(_name(source).encode()) + 1
    size = os.fstat(source).st_size - begin
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    _mount("/bot", flags, f"size={size + SOURCE_PAGES},nr_inodes=8,mode=0755")
    with open("/bot/bot.py", "wb") as file:
        while size > 0:
            sent = os.sendfile(file.fileno(), source, begin, size)
            begin, size = begin + sent, size - sent
    _mount("/bot", flags | MS_RDONLY | MS_REMOUNT, "")
    if scratch:
        _mount("/tmp", flags, f"size={scratch['bytes']},nr_inodes={scratch['files']},mode=0700")  # noqa: S108
    os.chdir("/bot")


def _name(source: int) -> str:
    """The first line."""
    return os.pread(source, NAME, 0).split(b"\n", 1)[0].decode()


def _mount(place: str, flags: int, options: str) -> None:
    _done(libc.mount(b"rage", place.encode(), b"tmpfs", flags, options.encode()))


def _limit(order: dict[str, Any]) -> None:
    for name, wanted in order["limits"].items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (value, value))


def _give_up_rights() -> None:
    """No capability now, none by any program to come."""
    for capability in (CAP_SYS_ADMIN, CAP_SETPCAP):  # bubblewrap took all others from the bounding set
        _done(libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0))
    _done(libc.prctl(PR_CAP_AMBIENT, 4, 0, 0, 0))  # clear all
    header = struct.pack("Ii", CAPABILITY_VERSION, 0)
    _done(libc.capset(header, bytes(24)))
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
