"""The walls a process builds around itself: namespaces or Landlock, mounts, limits, no rights.

Part of the text that runs inside the bots' own root, see `inside`; so it imports nothing of the service.
"""

import _signal  # type: ignore[import-not-found]  # the whole `signal` makes an enum of every number it gives
import ctypes
import os
import resource
import struct
from typing import Any

CLONE_VM, CLONE_FILES, CLONE_PIDFD = 0x100, 0x400, 0x1000
CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x0002_0000, 0x2000_0000, 0x4000_0000
CLONE_OTHERS = 0x0400_0000 | 0x0800_0000  # host name, message queues
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_RDONLY, MS_REMOUNT = 2, 4, 8, 1, 32
MS_REC, MS_PRIVATE = 0x4000, 0x4_0000
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 24, 38, 47
CAP_SETPCAP, CAP_SYS_ADMIN = 8, 21
CAPABILITIES = struct.pack("Ii", 0x2008_0522, 0)  # version 3, of this process
NO_CAPABILITY = bytes(24)
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
LANDLOCK_FILES, LANDLOCK_NETWORK, LANDLOCK_SCOPE = 0xFFFF, 3, 3  # all there is up to version 6
LANDLOCK_READ = 1 | 4 | 8  # run, read, list
SOURCE_PAGES = 16 * 4096  # beside the source itself
STACK = 16 * 1024

libc = ctypes.CDLL(None, use_errno=True)
for called in ("capset", "clone", "mount", "pause", "prctl", "setns", "syscall", "unshare", "waitid"):
    getattr(libc, called)  # looked up once, not by every child
libc.clone.restype = None


def leave_networks() -> None:
    """One network for all bots of the seat: no device is up in it, and none may open a socket."""
    done(libc.unshare(CLONE_NEWNET))
    done(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))


class Namespace:
    """What a bot sees of other processes: for each one a namespace of its own, in which it is born.

    Its first process is not the bot: the kernel spares such a one its own signals, so it could not abort, nor
    die of a refused call. Nor is it a copy of us, which would cost as much as the bot: it sleeps in our very
    memory and hears no signal, as long as the bot lives. Its number never comes into that memory: it would
    tell the next bot how many there were before.
    """

    __slots__ = ("_first", "_own", "_stack", "_told", "_top")

    def __init__(self) -> None:
        leave_networks()
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
        done(self._first.value)
        done(libc.setns(self._first, CLONE_NEWPID))

    def leave(self) -> None:
        """Have no more children in it."""
        done(libc.setns(self._own, CLONE_NEWPID))

    def end(self) -> None:
        """With the first process the kernel ends whatever else there is."""
        _signal.pidfd_send_signal(self._first.value, _signal.SIGKILL)
        done(libc.waitid(os.P_PIDFD, self._first, None, os.WEXITED))
        os.close(self._first.value)


def leave_host(source: int, begin: int, scratch: str | None) -> None:
    """Namespaces of its own, with nothing of the host in them."""
    done(libc.unshare(CLONE_NEWNS | CLONE_OTHERS))
    _furnish(source, begin, scratch)
    _give_up_rights()


def _furnish(source: int, begin: int, scratch: str | None) -> None:
    """The bot's own file, then read-only for good, and a small scratch space."""
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    size = os.lseek(source, 0, os.SEEK_END) - begin
    mount(b"/bot", flags, b"size=%d,nr_inodes=8,mode=0755" % (size + SOURCE_PAGES))
    file = os.open("/bot/bot.py", os.O_WRONLY | os.O_CREAT, 0o644)
    while size > 0:
        sent = os.sendfile(file, source, begin, size)
        begin, size = begin + sent, size - sent
    os.close(file)
    mount(b"/bot", flags | MS_RDONLY | MS_REMOUNT, b"")
    if scratch:
        mount(b"/tmp", flags, scratch.encode())
    os.chdir("/bot")


def lock_host(folder: str, opened: list[list[Any]]) -> None:
    """Without namespaces: every path is shut but these, and nobody outside can be signalled or spoken to."""
    os.chdir(folder)
    done(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    wanted = struct.pack("QQQ", LANDLOCK_FILES, LANDLOCK_NETWORK, LANDLOCK_SCOPE)
    rules = libc.syscall(LANDLOCK_CREATE, wanted, len(wanted), 0)
    done(rules)
    for path, rights in [*opened, [folder, LANDLOCK_READ]]:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        done(libc.syscall(LANDLOCK_ADD, rules, 1, struct.pack("=Qi", rights, place), 0))
        os.close(place)
    done(libc.syscall(LANDLOCK_RESTRICT, rules, 0))


def limit(limits: list[int]) -> None:
    for kind, wanted in zip(limits[::2], limits[1::2], strict=True):
        hard = resource.getrlimit(kind)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (value, value))


def _give_up_rights() -> None:
    """No capability now, none by any program to come."""
    for capability in (CAP_SYS_ADMIN, CAP_SETPCAP):  # bubblewrap took all others from the bounding set
        done(libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0))
    done(libc.prctl(PR_CAP_AMBIENT, 4, 0, 0, 0))  # clear all
    done(libc.capset(CAPABILITIES, NO_CAPABILITY))
    done(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


class Program:
    """The filter as the kernel takes it: a count and an address."""

    def __init__(self, rules: bytes) -> None:
        self._rules = ctypes.create_string_buffer(rules, len(rules))
        head = struct.pack("HxxxxxxP", len(rules) // 8, ctypes.addressof(self._rules))
        self.pointer = ctypes.create_string_buffer(head)


def end_with(above: int) -> None:
    """End with the parent, numbered `above`, which may be gone already."""
    done(libc.prctl(PR_SET_PDEATHSIG, _signal.SIGKILL, 0, 0, 0))
    if os.getppid() != above:
        os._exit(1)


def mount(place: bytes, flags: int, options: bytes) -> None:
    done(libc.mount(b"rage", place, b"tmpfs", flags, options))


def done(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
