"""Hostile bots: what each does at its first decision, and which faults may come of it.

Each attack is the body of `attack()`. A bot whose attack fails without a trace goes on and plays bid 0 and
the first legal card, just what the table plays for a bot that is out; so no attack may change the neighbour's
result.
"""

from dataclasses import dataclass, replace

PREAMBLE = """
import ctypes, fcntl, json, mmap, os, resource, signal, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)

def wire(data):
    "write to whatever could be the protocol"
    for number in range(3, 64):
        try:
            os.write(number, data)
        except OSError:
            pass

def opened(number):
    try:
        os.fstat(number)
        return True
    except OSError:
        return False
"""

PLAY = """
asked = 0

def decide(move):
    global asked
    asked += 1
    if asked == 1:
        answer = attack()
        return move if answer is None else answer
    return move

def bid(view):
    return decide(0)

def play(view):
    return decide(view["legal"][0])
"""


INT_80 = r"""
page = mmap.mmap(-1, 4096, prot=7)
page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, getpid; int 0x80; ret
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
"""

HOARD = """
libc.mmap.restype = ctypes.c_void_p
while (page := libc.mmap(None, ctypes.c_size_t(1 << 20), 3, 0x21, -1, ctypes.c_long(0))) < 1 << 63:  # shared
    ctypes.memset(page, 1, 1 << 20)
    libc.madvise(ctypes.c_void_p(page), ctypes.c_size_t(1 << 20), 4)  # of no process any more
raise MemoryError
"""


@dataclass(frozen=True, slots=True)
class Attack:
    """`kinds`: the faults that may be recorded; `-` means that no fault at all is fine too."""

    name: str
    body: str
    kinds: str
    out: bool | None = None
    at_start: bool = False

    @property
    def source(self) -> str:
        """The whole bot."""
        lines = "\n".join("    " + line for line in self.body.strip().splitlines())
        if self.at_start:
            return f"{PREAMBLE}\nif True:\n{lines}\n{PLAY}".replace("attack()", "None")
        return f"{PREAMBLE}\ndef attack():\n{lines}\n{PLAY}"

    def allows(self, kinds: set[str], mode: str = "A") -> bool:
        """Whether these faults, and no others, are what should come of it."""
        expected = BY_MODE.get(mode, {}).get(self.name, self.kinds)
        return kinds <= set(expected.split()) and bool(kinds or "-" in expected)


ATTACKS = [
    # processes and threads
    Attack("fork", "os.fork()", "escape", True),
    Attack("fork bomb", "while True:\n    os.fork()", "escape", True),
    Attack("fork behind a handler", "signal.signal(signal.SIGSYS, lambda *a: None)\nos.fork()", "-"),
    Attack(
        "fork with the signal ignored", "signal.signal(signal.SIGSYS, signal.SIG_IGN)\nos.fork()", "escape"
    ),
    Attack("subprocess", "import subprocess\nsubprocess.run(['/usr/bin/python3', '-c', ''])", "escape", True),
    Attack("clone by number", "libc.syscall(56, 17, 0, 0, 0, 0)", "escape", True),
    Attack("clone3 by number", "assert libc.syscall(435, 0, 0) == -1", "-"),
    Attack(
        "thread bomb",
        "while True:\n    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        "escape",
        True,
    ),
    Attack("daemon", "if os.fork() == 0:\n    os.setsid()\n    time.sleep(600)", "escape", True),
    Attack("another program", "os.execv('/usr/bin/python3', ['python3', '-c', 'print(1)'])", "crash", True),
    Attack("kill everybody", "os.kill(-1, signal.SIGKILL)", "crash -"),
    Attack("kill the group", "os.kill(0, signal.SIGKILL)", "crash", True),
    Attack("kill process 1", "os.kill(1, signal.SIGKILL)", "-"),
    Attack(
        "wake process 1",
        "for number in range(1, 65):\n    libc.kill(1, number)",
        "-",
    ),
    Attack("kill a host process", "os.kill(@PID@, signal.SIGKILL)", "crash", True),
    # memory
    Attack("memory at once", "x = bytearray(2_000_000_000)", "memory", True),
    Attack(
        "memory bit by bit",
        "held = []\nwhile True:\n    held.append(bytearray(b'x' * 1_000_000))",
        "memory",
        True,
    ),
    Attack(
        "memory behind a guard", "while True:\n    x = mmap.mmap(-1, 10**9)\n    x[0] = 1", "memory", True
    ),
    Attack("memory that no process holds", HOARD, "memory", True),
    # time
    Attack("endless loop", "while True:\n    pass", "timeout"),
    Attack("endless loop in C", "sum(range(10**12))", "timeout"),
    Attack("sleep", "time.sleep(600)", "timeout"),
    Attack("stop itself", "os.kill(os.getpid(), signal.SIGSTOP)", "timeout", True),
    Attack(
        "ponder on others' time",
        "def burn():\n    while True:\n        pass\n"
        "for _ in range(8):\n    threading.Thread(target=burn, daemon=True).start()\n"
        "while time.process_time() < 0.5:\n    time.sleep(0.01)",  # or a quick match would be over before
        "timeout",
    ),
    Attack("late answer", "time.sleep(0.7)", "timeout", False),
    # output
    Attack("output flood", "while True:\n    wire(b'x' * 100_000 + b'\\n')", "flood garbage", True),
    Attack("log flood", "while True:\n    print('x' * 100_000)", "flood", True),
    Attack("unended line", "wire(b'x' * 9_000)", "garbage", False),
    Attack("invalid UTF-8", "wire(b'\\xff\\xfe\\n')", "garbage", False),
    Attack("no JSON", "wire(b'hello\\n')", "garbage", False),
    Attack("NaN", 'wire(b\'{"id":1,"move":NaN}\\n\')', "garbage", False),
    Attack("deep JSON", "wire(b'[' * 4_000 + b'\\n')", "garbage", False),
    Attack(
        "answers ahead", 'wire(b\'{"id":1,"move":0}\\n{"id":2,"move":0}\\n{"id":3,"move":0}\\n\')', "garbage"
    ),
    Attack("wrong id", 'wire(b\'{"id":7,"move":0}\\n\')', "garbage", False),
    Attack("boolean id", 'wire(b\'{"id":true,"move":0}\\n\')', "garbage", False),
    Attack("boolean for a number", "return False", "illegal", False),
    Attack("float for a number", "return 0.0", "illegal", False),
    Attack("text for a number", "return '0'", "illegal", False),
    Attack("infinity", "return float('inf')", "garbage illegal", False),
    Attack("huge number", "return 10 ** 400", "garbage illegal", False),
    Attack("an object", "return {'__class__': 'int'}", "illegal", False),
    Attack("unknown card", "return 'R99'", "illegal", False),
    Attack("close everything", "os.closerange(0, 256)", "crash", True),
    Attack("close and wait", "os.closerange(0, 256)\ntime.sleep(600)", "timeout crash", True),
    Attack("exit", "sys.exit(0)", "crash", True),
    Attack("exit at once", "os._exit(3)", "crash", True),
    Attack("abort", "os.abort()", "crash", True),
    Attack("crash in C", "ctypes.string_at(0)", "crash", True),
    Attack("endless recursion", "def f():\n    return f()\nf()", "crash", True),
    # files
    Attack("read the host's users", "print(open('/etc/passwd').read())", "crash", True),
    Attack("read a secret", "print(open('@CANARY@').read())", "crash", True),
    Attack("read the checkout", "print(os.listdir('@CHECKOUT@'))", "crash", True),
    Attack("read processes", "print(os.listdir('/proc'))", "crash", True),
    Attack(
        "read the neighbour's code",
        "for each in os.listdir('@CLAIM@'):\n    print(open(f'@CLAIM@/{each}/bot.py').read())",
        "crash",
        True,
    ),
    Attack("list the sandbox's folders", "print(os.listdir('@CLAIM@'))", "crash", True),
    Attack("read the environment", "print(dict(os.environ))", "-"),
    Attack("write into the engine", "open('/usr/lib/rage/engine/table.py', 'w')", "crash", True),
    Attack("write into Python", "open('/usr/lib/python3.11/json/x.py', 'w')", "crash", True),
    Attack("write over itself", "open('/bot/bot.py', 'w')", "crash", True),
    Attack("write into the root", "open('/x', 'w')", "crash", True),
    Attack(
        "fill the disk",
        "for n in range(99):\n    with open(f'/tmp/{n}', 'wb') as f:\n        f.write(bytes(1_000_000))",
        "escape",
        True,
    ),
    Attack("one huge file", "with open('/tmp/x', 'wb') as f:\n    f.truncate(10 ** 12)", "escape", True),
    Attack("fill the inodes", "for n in range(10 ** 6):\n    open(f'/tmp/{n}', 'w').close()", "escape", True),
    Attack("open too many", "held = [open('/dev/null') for _ in range(999)]", "escape", True),
    Attack("count the disk's free blocks", "print(os.statvfs('bot.py'))", "escape", True),
    Attack("link out", "os.symlink('/etc/passwd', '/tmp/x')", "escape", True),
    Attack("device", "os.mknod('/tmp/x', 0o600 | 0o020000, os.makedev(1, 1))", "escape", True),
    Attack("set-uid", "open('/tmp/x', 'w').close()\nos.chmod('/tmp/x', 0o6755)", "escape", True),
    # network and neighbours
    Attack("TCP", "socket.create_connection(('127.0.0.1', @PORT@))", "escape", True),
    Attack(
        "UDP",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
        "escape",
        True,
    ),
    Attack("unix socket", "socket.socket(socket.AF_UNIX).connect('@CANARY@')", "escape", True),
    Attack("netlink", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)", "escape", True),
    Attack("datagram out of a pair", "socket.socketpair()[0].sendto(b'x', '\\0name')", "escape crash", True),
    Attack("shared memory", "assert libc.shmget(1234, 4096, 0o1666) == -1", "escape", True),
    Attack(
        "named memory", "libc.shm_open.restype = int\nassert libc.shm_open(b'/x', 66, 0o666) == -1", "- crash"
    ),
    Attack("message queue", "libc.msgget(1234, 0o1666)", "escape", True),
    Attack("posix queue", "libc.syscall(240, b'x', 66, 0o666, 0)", "escape", True),
    Attack("file lock", "fcntl.flock(open('bot.py'), fcntl.LOCK_EX)", "escape", True),
    Attack("record lock", "fcntl.lockf(open('/tmp/x', 'w'), fcntl.LOCK_EX)", "escape", True),
    Attack("memory file", "os.memfd_create('x')", "escape", True),
    Attack("watch files", "assert libc.inotify_init() == -1", "-"),
    Attack("inherited descriptors", "print('OPEN', [n for n in range(1024) if opened(n)])", "-"),
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
    # more of the wire
    Attack(
        "widened pipe",
        "for n in (3, 4):\n    fcntl.fcntl(n, 1031, 1 << 20)\nwire(b'x' * 900_000)",
        "flood garbage",
    ),
    Attack("narrowed pipe", "for n in (3, 4):\n    fcntl.fcntl(n, 1031, 4096)", "-"),
    Attack("half an answer", "wire(b'{\"id\":1,')", "garbage", False),
    Attack("half an answer and no more", "wire(b'{\"id\":1,')\ntime.sleep(600)", "timeout garbage"),
    Attack("half a character", "return '\\ud800'", "garbage illegal", False),
    Attack("a key twice", 'wire(b\'{"id":1,"id":2,"move":0}\\n\')', "garbage", False),
    Attack("a move twice", 'wire(b\'{"id":1,"move":0,"move":99}\\n\')', "garbage illegal", False),
    Attack("float id", 'wire(b\'{"id":1.0,"move":0}\\n\')', "garbage", False),
    Attack("endless id", 'wire(b\'{"id":1\' + b"0" * 3000 + b\',"move":0}\\n\')', "garbage", False),
    Attack("other encoding", "wire('{\"id\":1,\"move\":0}\\n'.encode('utf-16'))", "garbage"),
    Attack("NUL bytes", "wire(bytes(100) + b'\\n')", "garbage", False),
    Attack("close the answers", "for n in (1, 3, 4):\n    os.close(n)\ntime.sleep(600)", "crash", True),
    Attack("take the next question", "os.read(3, 1)", "timeout crash"),
    Attack("mend the SDK", "import engine.bot\nengine.bot._say = lambda *a: None", "timeout"),
    Attack("bytes for a log", "os.write(2, bytes(range(256)) * 99)", "-"),
    Attack("forged log", "print('\\x1b[2J<script>alert(1)</script>', file=sys.stderr)", "-"),
]

NO_SCRATCH = ("fill the disk", "one huge file", "fill the inodes", "set-uid", "record lock", "deep folders")
NO_NAMESPACE = ("kill process 1", "kill a host process", "ponder on others' time")
BY_MODE = {
    "B": dict.fromkeys(NO_SCRATCH, "crash"),
    # other processes are there, and refused by name; threads are refused
    "C": {**dict.fromkeys(NO_SCRATCH, "crash"), **dict.fromkeys(NO_NAMESPACE, "escape")},
}
"""What comes of an attack without a scratch space or a namespace, where that differs."""

_AT_START = [
    Attack("slow import", "time.sleep(600)", "start", True),
    Attack("busy import", "while True:\n    pass", "start", True),
    Attack("flooding import", "while True:\n    print('x' * 100_000)", "flood", True),
    Attack("hungry import", "x = [bytearray(b'x' * 1_000_000) for _ in range(500)]", "memory", True),
    Attack("forking import", "os.fork()", "escape", True),
    Attack("leaving import", "sys.exit(0)", "start", True),
    Attack("failing import", "import no_such_module", "start", True),
    Attack("answer before the question", "wire(b'{\"ready\":true}\\n')", "garbage crash -"),
    Attack("wrong hello", "wire(b'{\"ready\":1}\\n')", "start", True),
    Attack("no hello", "wire(b'\\xff\\n')", "start", True),
]
AT_START = [replace(attack, at_start=True) for attack in _AT_START]
