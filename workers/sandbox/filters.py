"""The system call filter of `policy`, compiled by libseccomp once per process and kind of bot."""

import contextlib
import os
from collections.abc import Iterable
from functools import cache
from typing import Any

from workers.sandbox import policy
from workers.sandbox.errors import SandboxUnavailable

AS_A_TREE = 2  # every bot has the kernel try all calls on its filter: 14 steps each instead of 166


@cache
def compiled(*, forks: bool, threads: bool = True, pipes: bool = False) -> bytes:
    """The BPF program for bots that may start processes (`forks`), only threads, or neither; `pipes`."""
    seccomp = _library()
    rules = seccomp.SyscallFilter(seccomp.ERRNO(1))
    with contextlib.suppress(ValueError, OSError):  # libseccomp before 2.5 knows no other than a long list
        rules.set_attr(seccomp.Attr.CTL_OPTIMIZE, AS_A_TREE)
    _add(rules, seccomp.ALLOW, policy.ALLOWED | (policy.FORKING if forks else frozenset()))
    if pipes:
        _add(rules, seccomp.ALLOW, policy.PIPES)
        # event loops wake themselves through a nameless pair; addresses stay out of reach
        _rule(rules, seccomp.ALLOW, "socketpair", seccomp.Arg(0, seccomp.EQ, policy.AF_UNIX))
    loudly = policy.REFUSED_LOUDLY - {"socket"}
    _add(rules, seccomp.TRAP, loudly | (frozenset() if forks else policy.FORKING))
    _sockets(rules, seccomp, loudly=not forks and threads)
    for name, number in policy.ANSWERED.items():
        if name != "ioctl":
            _add(rules, seccomp.ERRNO(number), [name])
    _devices(rules, seccomp)
    _clone(rules, seccomp, forks=forks, threads=threads)
    _narrow(rules, seccomp)
    return _exported(rules)


@cache
def asking() -> bytes:
    """The program that lets everything through, but has `plumbing` asked for pipes and socket pairs."""
    seccomp = _library()
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    _add(rules, seccomp.NOTIFY, policy.PIPES | {"socketpair"})
    return _exported(rules)


def numbers(names: Iterable[str]) -> dict[int, str]:
    """System calls by their numbers on this processor, as far as it has them."""
    seccomp = _library()
    here = seccomp.system_arch()
    return {seccomp.resolve_syscall(here, name): name for name in names}


def _library() -> Any:
    try:
        import pyseccomp  # type: ignore[import-untyped]
    except (ImportError, OSError, RuntimeError) as error:
        raise SandboxUnavailable(
            f"the libseccomp library cannot be loaded ({error}); install it: apt-get install libseccomp2"
        ) from error
    return pyseccomp


def _add(rules: Any, action: Any, names: Iterable[str]) -> None:
    for name in sorted(names):
        _rule(rules, action, name)


def _rule(rules: Any, action: Any, name: str, *arguments: Any) -> None:
    try:
        rules.add_rule(action, name, *arguments)
    except (ValueError, OSError):
        # a call this processor or this libseccomp does not know: the default answer, EPERM, covers it
        if name in ("execve", "read", "write", "clone", "socket"):
            raise


def _clone(rules: Any, seccomp: Any, *, forks: bool, threads: bool) -> None:
    """Threads for all, processes where they are allowed, new namespaces for nobody."""
    argument, masked = seccomp.Arg, seccomp.MASKED_EQ
    wanted = 0 if forks else policy.CLONE_THREAD
    mask = policy.CLONE_NEW | wanted
    if threads:
        _rule(rules, seccomp.ALLOW, "clone", argument(0, masked, mask, wanted))
    if not forks:
        _rule(rules, seccomp.TRAP, "clone", argument(0, masked, policy.CLONE_THREAD, 0))


def _devices(rules: Any, seccomp: Any) -> None:
    """Nothing of terminals and devices; event loops make their pipes not wait by such a call."""
    _rule(rules, seccomp.ALLOW, "ioctl", seccomp.Arg(1, seccomp.EQ, policy.FIONBIO))
    refusal = seccomp.ERRNO(policy.ANSWERED["ioctl"])
    _rule(rules, refusal, "ioctl", seccomp.Arg(1, seccomp.NE, policy.FIONBIO))


def _sockets(rules: Any, seccomp: Any, *, loudly: bool) -> None:
    """None for anybody. Programs look for a name service by a local one in good faith; Python does not."""
    if loudly:  # else the default answer holds
        _rule(rules, seccomp.TRAP, "socket", seccomp.Arg(0, seccomp.EQ, policy.AF_UNIX))
    _rule(rules, seccomp.TRAP, "socket", seccomp.Arg(0, seccomp.NE, policy.AF_UNIX))


def _narrow(rules: Any, seccomp: Any) -> None:
    """Calls that are harmless with some arguments only."""
    argument, equal = seccomp.Arg, seccomp.EQ
    for option in policy.PRCTL_ALLOWED:
        _rule(rules, seccomp.ALLOW, "prctl", argument(0, equal, option))
    for command in range(48):
        if command not in policy.LOCK_COMMANDS:
            _rule(rules, seccomp.ALLOW, "fcntl", argument(1, equal, command))
    for command in (1030, 1032):  # F_DUPFD_CLOEXEC, F_GETPIPE_SZ
        _rule(rules, seccomp.ALLOW, "fcntl", argument(1, equal, command))
    _rule(rules, seccomp.ALLOW, "sendto", argument(4, equal, 0))
    _rule(
        rules,
        seccomp.ALLOW,
        "futex",
        argument(1, seccomp.MASKED_EQ, policy.FUTEX_PRIVATE, policy.FUTEX_PRIVATE),
    )
    for operation in policy.FUTEX_WAITS:
        _rule(rules, seccomp.ALLOW, "futex", argument(1, equal, operation))
    _rule(rules, seccomp.ALLOW, "madvise", argument(2, seccomp.NE, policy.MERGEABLE))
    # only reading limits, and lowering one's own: hard limits stand
    _rule(rules, seccomp.ALLOW, "prlimit64", argument(0, equal, 0))


def _exported(rules: Any) -> bytes:
    descriptor = os.memfd_create("filter")
    with os.fdopen(descriptor, "w+b") as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
