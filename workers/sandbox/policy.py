"""What a bot may have: every figure and system call of the sandbox, as values; `bubblewrap` applies them.

Three answers exist for a system call. ALLOWED ones work. REFUSED_LOUDLY ones have no place in a card game and
end the bot with SIGSYS, so that its author learns the very line. Everything else fails with EPERM, because
libraries try such calls in good faith and live without them.
"""

import errno
from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class Policy:
    """Figures that no tournament changes. Sizes in bytes."""

    threads: int = 16  # and processes, where the bot may have any
    scratch_bytes: int = 8 * MIB
    scratch_files: int = 1024
    open_files: int = 64
    address_room: int = 256 * MIB  # address space above the memory limit where a cgroup counts real memory
    stop_seconds: float = 5.0


POLICY = Policy()


def limits_of(address: int, cpu_seconds: int) -> dict[str, int]:
    """Limits of the bot's own process, by their names in `resource`."""
    return {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": cpu_seconds,
        "RLIMIT_FSIZE": POLICY.scratch_bytes,
        "RLIMIT_NOFILE": POLICY.open_files,
        "RLIMIT_MEMLOCK": 64 * 1024,
        "RLIMIT_RTPRIO": 0,
        "RLIMIT_AS": address,
        "RLIMIT_NPROC": POLICY.threads + 2,  # and the parent, and the namespace's first process
    }


ENVIRONMENT = {
    "PATH": "/usr/bin",
    "HOME": "/tmp",  # noqa: S108 - the bot's own scratch space
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "PYTHONPATH": "/usr/lib/rage",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",  # the same seed gives the same game on the author's machine
    "PYTHONNOUSERSITE": "1",
    "MALLOC_ARENA_MAX": "1",  # else each thread would take 64 MiB of the address space it may have
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}

ALLOWED = frozenset(
    """
    access alarm arch_prctl brk chdir clock_getres clock_gettime clock_nanosleep close close_range
    copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait
    epoll_pwait2 epoll_wait eventfd eventfd2 execve exit exit_group faccessat faccessat2 
    fallocate fchdir fdatasync fstat fsync ftruncate 
    get_robust_list getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer
    getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit
    getrusage getsid getsockname getsockopt gettid gettimeofday getuid kill lseek lstat
    mkdir mkdirat mmap mprotect mremap msync munmap nanosleep newfstatat open openat openat2 pause
    poll ppoll pread64 preadv pselect6 pwrite64 pwritev read readlink
    readlinkat readv recvfrom rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction
    rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait sched_get_priority_max
    sched_get_priority_min sched_getaffinity sched_getparam sched_getscheduler sched_yield select
    sendfile set_robust_list set_tid_address setitimer setpgid shutdown sigaltstack splice
    stat tee tgkill time timer_create timer_delete timer_getoverrun
    timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill truncate
    umask uname unlink unlinkat wait4 waitid write writev
    """.split()  # noqa: SIM905 - a list to be read
)

REFUSED_LOUDLY = frozenset(
    """
    accept accept4 acct add_key adjtimex bind bpf chroot clock_adjtime clock_settime connect
    delete_module fanotify_init fanotify_mark finit_module fsconfig fsmount fsopen fspick
    init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load
    kexec_load keyctl listen lookup_dcookie memfd_secret mknod mknodat mount mount_setattr
    move_mount move_pages mq_open msgctl msgget msgrcv msgsnd name_to_handle_at open_by_handle_at
    open_tree perf_event_open pidfd_getfd pivot_root process_madvise process_mrelease
    process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot request_key sched_setattr
    sched_setparam sched_setscheduler semctl semget semop semtimedop setdomainname setfsgid setfsuid
    setgid setgroups sethostname setns setregid setresgid setresuid setreuid settimeofday setuid
    shmat shmctl shmdt shmget socket swapoff swapon syslog umount2 unshare userfaultfd vhangup
    """.split()  # noqa: SIM905 - a list to be read
)

FORKING = frozenset({"fork", "vfork"})
PIPES = frozenset({"pipe", "pipe2"})  # and socketpair: see below

# answers that make a library take its own other way
ANSWERED = {
    "clone3": errno.ENOSYS,
    "futex_waitv": errno.ENOSYS,
    "statx": errno.ENOSYS,
    "ioctl": errno.ENOTTY,
}

# Not allowed, because seats and matches share the files of the root: what marks a file or the page cache
# (fadvise64, utime…, preadv2 with its look at the cache), counts the host (sysinfo, statfs), or wakes a
# stranger who waits on the same page (a futex that is not private). setsid would earn a bot its own share of
# the core. One core numbers all its pipes and socket pairs in a row, and fstat tells the number: who makes
# some talks to who makes one later. Programs with processes or event loops need them (`plumbing`); a Python
# file has no use for any. statx tells the number of mounts the machine ever had; libraries then ask by older
# calls.
FUTEX_PRIVATE = 128
FUTEX_WAITS = [0, 9, 9 | 256]  # waiting for a thread's end is never private; waking others is what could talk

CLONE_THREAD = 0x0001_0000
CLONE_NEW = 0x7E02_0080  # every CLONE_NEW* flag: time, mount, cgroup, uts, ipc, user, pid, net
# fcntl commands whose locks on files all seats read would be a channel between them. So would F_SETPIPE_SZ
# be: we make the pipes of all seats, and once one maker's pipes are wide together it fails for each
LOCK_COMMANDS = [5, 6, 7, 36, 37, 38]
PRCTL_ALLOWED = [
    3,
    15,
    16,
    23,
    39,
    0x53564D41,
]  # dumpable?, names, read bounds, no-new-privs?, name a mapping
MERGEABLE = 12  # advice on memory: which pages another seat has, too, could be told by the time it takes
AF_UNIX = 1
FIONBIO = 0x5421
