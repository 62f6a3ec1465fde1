"""All hostile bots, by what they are after; those after the kernel are in `attacks_kernel`."""

from dataclasses import replace

from loadtests.attack import Attack
from loadtests.attacks_kernel import KERNEL

HOARD = """
libc.mmap.restype = ctypes.c_void_p
while (page := libc.mmap(None, ctypes.c_size_t(1 << 20), 3, 0x21, -1, ctypes.c_long(0))) < 1 << 63:  # shared
    ctypes.memset(page, 1, 1 << 20)
    libc.madvise(ctypes.c_void_p(page), ctypes.c_size_t(1 << 20), 4)  # of no process any more
raise MemoryError
"""

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
    *KERNEL,
    # more of the wire
    Attack("widened pipe", "fcntl.fcntl(3, 1031, 1 << 20)", "escape", True),
    Attack("narrowed pipe", "fcntl.fcntl(3, 1031, 4096)", "escape", True),
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
