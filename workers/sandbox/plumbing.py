"""Pipes for archives, which tell no other seat anything.

A core numbers all its pipes and socket pairs in a row, and `fstat` tells the number: who made some in its
turn would talk to who makes one later. So the kernel asks us for each (seccomp_unotify(2)) instead of making
it. A pipe is then a nameless file of a file system that is the bot's own, numbered there. A socket pair the
kernel makes, but only until the bot is ready, when nobody has seen a card yet. Where we may not have such
file systems everything is let through.
"""

import ctypes
import errno
import fcntl
import os
import select
import struct
import threading
import time

from workers.sandbox import filters, policy

RECEIVE, ANSWER, HAND_OVER = 0xC050_2100, 0xC018_2101, 0x4018_2103  # seccomp's ioctls
GO_ON = 1
ASKED = struct.Struct("=QIIiIQ6Q")  # id, process, flags; call, architecture, place, arguments
ANSWERED = struct.Struct("=QqiI")  # id, value, error, flags
HANDED = struct.Struct("=QIIII")  # id, flags, ours, theirs, their flags
FSOPEN, FSCONFIG, FSMOUNT = 430, 431, 432
CLOEXEC, CREATE, INERT = 1, 6, 2 | 4 | 8  # nothing set-uid, no device, no program
KNOWN = os.O_CLOEXEC | os.O_NONBLOCK
PATIENCE = 2.0  # seconds
libc = ctypes.CDLL(None, use_errno=True)


class Plumbing:
    """Answers one seat's archives, in a thread of its own; `listener` is where they ask."""

    def __init__(self, listener: int) -> None:
        self._listener = listener
        self._pipes = filters.numbers(policy.PIPES)
        self._place = -1
        self._paired = True
        self._laying = threading.Lock()  # while it is held the file system stays open
        self._used = self._used_before = 0
        self._thread = threading.Thread(target=self._serve, name="plumbing", daemon=True)
        self._thread.start()

    def begin(self) -> None:
        """A new bot is about to start."""
        self.end()
        self._used_before = self._used
        self._place, self._paired = _file_system(), True

    def begun(self) -> None:
        """It is ready: no socket pairs from now on."""
        self._paired = self._place < 0

    def end(self) -> None:
        """It has ended; idempotent."""
        with self._laying:
            if self._place >= 0:
                os.close(self._place)
                self._place = -1

    @property
    def cpu_ns(self) -> int:
        """CPU nanoseconds of ours that this bot's asking took."""
        return self._used - self._used_before

    def close(self) -> None:
        """All who could ask have ended; idempotent."""
        self._thread.join(PATIENCE)
        self.end()

    def _serve(self) -> None:
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        while poll.poll()[0][1] & select.POLLIN:
            asked = bytearray(ASKED.size)
            try:
                fcntl.ioctl(self._listener, RECEIVE, asked)
                with self._laying:
                    answer = self._answer(*ASKED.unpack(asked))
                fcntl.ioctl(self._listener, ANSWER, answer)
            except OSError:  # who asked is gone
                continue
            finally:
                self._used = time.thread_time_ns()
        os.close(self._listener)

    def _answer(self, asker: int, pid: int, _: int, call: int, __: int, ___: int, *told: int) -> bytes:
        if call not in self._pipes:
            return ANSWERED.pack(asker, 0, *((0, GO_ON) if self._paired else (-errno.EPERM, 0)))
        if self._place < 0:
            return ANSWERED.pack(asker, 0, 0, GO_ON)
        try:
            self._lay(asker, pid, told[0], told[1] if self._pipes[call] == "pipe2" else 0)
        except PermissionError:  # a container may keep us from its memory
            return ANSWERED.pack(asker, 0, 0, GO_ON)
        except OSError as error:
            return ANSWERED.pack(asker, 0, -(error.errno or errno.EPERM), 0)
        return ANSWERED.pack(asker, 0, 0, 0)

    def _lay(self, asker: int, pid: int, at: int, flags: int) -> None:
        """Give the process `pid` both ends of a new pipe, their numbers `at` its place; raises `OSError`."""
        if flags & ~KNOWN & 0xFFFF_FFFF:
            raise OSError(errno.EINVAL, "packets are not for a card game")
        os.mkfifo("pipe", 0o600, dir_fd=self._place)
        ends: list[int] = []
        try:
            for way in (os.O_RDONLY | os.O_NONBLOCK, os.O_WRONLY | os.O_NONBLOCK):
                ends.append(os.open("pipe", way | os.O_CLOEXEC, dir_fd=self._place))
            for end in ends:
                os.set_blocking(end, not flags & os.O_NONBLOCK)
            with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
                theirs = [self._handed(asker, end, flags & os.O_CLOEXEC) for end in ends]
                _write(memory.fileno(), at, struct.pack("2i", *theirs))  # its own: it lived to be handed them
        finally:
            for end in ends:
                os.close(end)
            os.unlink("pipe", dir_fd=self._place)

    def _handed(self, asker: int, end: int, flags: int) -> int:
        """The number it has in the process that asked."""
        order = ctypes.create_string_buffer(HANDED.pack(asker, 0, end, 0, flags))
        return _done(libc.ioctl(self._listener, ctypes.c_ulong(HAND_OVER), order))


def _write(memory: int, at: int, data: bytes) -> None:
    """Into a process; raises `OSError`. By its file, for a container may forbid `process_vm_writev`."""
    if at >= 1 << 63 or os.pwrite(memory, data, at) < len(data):
        raise OSError(errno.EFAULT, os.strerror(errno.EFAULT))


def _file_system() -> int:
    """One that has no place in any tree; -1 if we may not have it."""
    try:
        made = _done(libc.syscall(FSOPEN, b"tmpfs", CLOEXEC))
        try:
            _done(libc.syscall(FSCONFIG, made, CREATE, None, None, 0))
            return _done(libc.syscall(FSMOUNT, made, CLOEXEC, INERT))
        finally:
            os.close(made)
    except OSError:
        return -1


def _done(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
