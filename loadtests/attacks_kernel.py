"""Attacks on the kernel, and on what it shares: calls, sockets, files, descriptors."""

from loadtests.attack import Attack

INT_80 = r"""
page = mmap.mmap(-1, 4096, prot=7)
page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, getpid; int 0x80; ret
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
"""

KERNEL = [
    # the kernel
    Attack("ptrace", "libc.ptrace(0, 0, 0, 0)", "escape", True),
    Attack("read another's memory", "libc.process_vm_readv(1, 0, 0, 0, 0, 0)", "escape", True),
    Attack("new namespaces", "libc.unshare(0x10000000)", "escape", True),
    Attack("mount", "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)", "escape", True),
    Attack("chroot", "os.chroot('/tmp')", "escape", True),
    Attack("become root", "os.setuid(0)", "escape", True),
    Attack("bpf", "libc.syscall(321, 0, 0, 0)", "escape", True),
    Attack("io_uring", "libc.syscall(425, 8, 0)", "escape", True),
    Attack("32-bit call", INT_80, "escape crash", True),
    Attack("call of nothing", "ctypes.CFUNCTYPE(None)(0)()", "crash", True),
    Attack("priority", "os.setpriority(os.PRIO_PROCESS, 0, -20)", "escape", True),
    Attack(
        "real-time priority", "libc.sched_setscheduler(0, 1, ctypes.byref(ctypes.c_int(1)))", "escape", True
    ),
    Attack("choose a core", "os.sched_setaffinity(0, {0})", "escape", True),
    Attack(
        "raise its limits", "resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))", "crash escape", True
    ),
    Attack("lift the memory limit", "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))", "crash escape", True),
    Attack("lift its filter", "assert libc.prctl(22, 1, 0, 0, 0) == -1", "-"),
    # more of the kernel
    Attack("call by the other numbers", "assert libc.syscall(0x40000000 + 41, 2, 1, 0) == -1", "escape -"),
    Attack("fork by its other name", "libc.syscall(58)", "escape", True),
    Attack("program without a file", "assert libc.syscall(322, -1, b'', None, None, 0x1000) == -1", "-"),
    Attack("personality", "assert libc.syscall(135, 0x0400000) == -1", "-"),
    Attack(
        "tell the kernel tales",
        "for option in (1, 4, 9, 26, 35, 36, 67, 0x59616d61):\n"
        "    assert libc.prctl(option, 0, 0, 0, 0) == -1",
        "-",
    ),
    Attack("descriptor of a process", "os.pidfd_open(os.getpid())", "escape", True),
    Attack("faults of one's own", "libc.syscall(323, 0)", "escape", True),
    Attack("counters", "libc.syscall(298, bytes(128), 0, -1, -1, 0)", "escape", True),
    Attack("keyring", "libc.syscall(248, b'user', b'x', b'y', 1, -2)", "escape", True),
    Attack("set the clock", "time.clock_settime(time.CLOCK_REALTIME, 0)", "escape", True),
    Attack("semaphore", "libc.semget(1234, 1, 0o1666)", "escape", True),
    Attack("hold memory in place", "assert libc.mlockall(3) == -1", "-"),
    Attack(
        "share equal pages",
        "page = mmap.mmap(-1, 4096)\nplace = ctypes.addressof(ctypes.c_char.from_buffer(page))\n"
        "assert libc.madvise(ctypes.c_void_p(place), 4096, 12) == -1",
        "-",
    ),
    Attack("ask what lies in memory", "assert libc.syscall(27, 0, 0, 0) == -1", "-"),
    Attack("timer bomb", "for n in range(100_000):\n    libc.timer_create(0, None, bytes(8))", "- timeout"),
    Attack(
        "alarm storm",
        "signal.signal(signal.SIGALRM, lambda *a: None)\nsignal.setitimer(signal.ITIMER_REAL, 1e-6, 1e-6)",
        "- timeout",
    ),
    Attack(
        "ignore every signal",
        "for number in range(1, 65):\n    try:\n        signal.signal(number, signal.SIG_IGN)\n"
        "    except (OSError, ValueError):\n        pass\ntime.sleep(600)",
        "timeout",
    ),
    Attack(
        "no CPU time of its own",
        "resource.setrlimit(resource.RLIMIT_CPU, (0, 0))\nwhile 1: pass",
        "timeout crash",
    ),
    Attack(
        "recursion without a limit",
        "sys.setrecursionlimit(10**9)\ndef f():\n    f()\nf()",
        "crash memory timeout",
    ),
    Attack(
        "map beyond the end",
        "with open('/tmp/x', 'w+b') as f:\n    f.truncate(4096)\n    page = mmap.mmap(f.fileno(), 4096)\n"
        "    f.truncate(0)\n    page[0]",
        "crash",
        True,
    ),
    Attack(
        "huge environment", "os.execve('/usr/bin/python3', ['x'], {'X' * 99: 'x' * 2_000_000})", "crash", True
    ),
    # more sockets
    *(
        Attack(name, f"socket.socket({family}, socket.SOCK_DGRAM)", "escape", True)
        for name, family in (("to the machine below", 40), ("raw packets", 17), ("crypto", 38), ("IPv6", 10))
    ),
    Attack(
        "descriptors in flight",
        "a, b = socket.socketpair()\nsocket.send_fds(a, [b'x'], [0])",
        "escape crash",
        True,
    ),
    # more files
    *(
        Attack(f"read {path}", f"print(open({path!r}, 'rb').read(64))", "crash", True)
        for path in (
            "/proc/self/mem",
            "/proc/1/environ",
            "/dev/kmsg",
            "/dev/mem",
            "/sys/kernel/notes",
            "../../etc/shadow",
        )
    ),
    Attack("write into shared memory", "open('/dev/shm/x', 'w')", "crash", True),
    Attack("terminal", "open('/dev/ptmx', 'r+b', buffering=0)", "crash", True),
    Attack(
        "deep folders", "os.chdir('/tmp')\nwhile True:\n    os.mkdir('d')\n    os.chdir('d')", "escape", True
    ),
    Attack("pipe bomb", "held = []\nwhile True:\n    held.append(os.pipe())", "escape", True),
    Attack("number of a pipe", "print(os.fstat(os.pipe()[0]).st_ino)", "escape", True),
    Attack("number of a socket", "print(os.fstat(socket.socketpair()[0].fileno()).st_ino)", "escape", True),
    Attack("number of a mount", "assert libc.syscall(332, 0, b'.', 0, 0x4000, bytes(256)) == -1", "-"),
    Attack("import the service", "import service.settings", "crash", True),
    Attack(
        "what the parent left",
        "import gc\nfor each in gc.get_objects():\n"
        "    if type(each).__name__ == 'socket' and each.fileno() >= 0:\n"
        "        raise SystemExit('a socket')\n"
        "for number in range(5, 1024):\n    assert not opened(number)",
        "-",
    ),
]
