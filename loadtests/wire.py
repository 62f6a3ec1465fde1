"""A client that is no bottleneck: raw sockets that are kept open, requests written beforehand.

    python -m loadtests.wire HOST PORT SECONDS CONNECTIONS [RATE] < requests

Requests come as JSON, a list of texts in hexadecimal, and are sent in turn, one at a time a connection. It
says how many were answered, how long it was busy itself, and the answers by status. With a RATE so many a
second are sent, whether answers come or not, and it says how long each answer took: from when its request
was due, so that a server that is slow cannot make the client ask less.
"""

import json
import os
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import cycle

END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a run saw: seconds of wall and of the client's own CPU, answers by status, bytes of bodies."""

    requests: int
    wall: float
    cpu: float
    statuses: dict[str, int]
    size: int
    took: list[float] = field(default_factory=list)


class Line:
    """One connection."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port), timeout=30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""

    def send(self, request: bytes) -> None:
        """Begin a request."""
        self._socket.sendall(request)

    def answer(self) -> tuple[str, int]:
        """The status and the length of the body of the answer to it."""
        data = self._rest
        while (head := data.find(END)) < 0:
            data += self._more()
        length = _length(data[:head])
        end = head + len(END) + length
        while len(data) < end:
            data += self._more()
        self._rest = data[end:]
        return data[9:12].decode(), length

    def _more(self) -> bytes:
        if not (data := self._socket.recv(1 << 17)):
            raise ConnectionError("the server closed the connection")
        return data

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def _length(head: bytes) -> int:
    """Of the body; an answer without a length has none (304)."""
    at = head.lower().find(b"content-length:")
    return 0 if at < 0 else int(head[at + 15 :].split(b"\r\n", 1)[0])


def get(host: str, path: str, headers: str = "") -> bytes:
    """A request as it goes over the wire; each header of `headers` ends with CR LF."""
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n{headers}\r\n".encode()


def drive(host: str, port: int, requests: Sequence[bytes], seconds: float, connections: int) -> Seen:
    """As many as are answered in that time."""
    lines = [Line(host, port) for _ in range(connections)]
    ring, statuses, size = cycle(requests), Counter[str](), 0
    spent, began = time.process_time(), time.perf_counter()
    while (wall := time.perf_counter() - began) < seconds:
        for line in lines:
            line.send(next(ring))
        for line in lines:
            status, length = line.answer()
            statuses[status] += 1
            size += length
    cpu = time.process_time() - spent
    for line in lines:
        line.close()
    return Seen(statuses.total(), wall, cpu, dict(statuses), size)


def paced(
    host: str, port: int, requests: Sequence[bytes], seconds: float, connections: int, rate: float
) -> Seen:
    """So many a second. The client goes before others where it may: readers have machines of their own."""
    with suppress(OSError):
        os.nice(-10)
    total, took, statuses = int(seconds * rate), [0.0] * int(seconds * rate), Counter[str]()
    spent, began = time.process_time(), time.perf_counter()

    def ask(first: int) -> None:
        line = Line(host, port)
        for number in range(first, total, connections):
            due = began + number / rate
            time.sleep(max(due - time.perf_counter(), 0.0))
            line.send(requests[number % len(requests)])
            statuses[line.answer()[0]] += 1
            took[number] = time.perf_counter() - due
        line.close()

    threads = [threading.Thread(target=ask, args=(first,)) for first in range(connections)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    wall, cpu = time.perf_counter() - began, time.process_time() - spent
    return Seen(statuses.total(), wall, cpu, dict(statuses), 0, took)


def main(argv: Sequence[str]) -> None:
    """Drive, and print one line of JSON."""
    host, port, seconds, connections, *rate = argv
    requests = [bytes.fromhex(each) for each in json.load(sys.stdin)]
    how = (host, int(port), requests, float(seconds), int(connections))
    print(json.dumps(asdict(paced(*how, float(rate[0])) if rate else drive(*how))))


if __name__ == "__main__":
    main(sys.argv[1:])
