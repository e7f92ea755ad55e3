# SPDX-License-Identifier: BSD-3-Clause
"""Links of virtual hosts (virtual_hosts.py): tests cut them, restore them and limit their rate while a job runs.

A link connects the network of a host's data to all other hosts. mpirun and its daemons use another network.
A request is one line, and so is its answer: "ok", "error: ..." for a wrong request, "unsupported: ..." if this machine
cannot limit rates. Hosts are numbered from 1.

    cut HOST [SECONDS]          loses all packets from and to the host; after SECONDS the link is restored
    restore HOST
    shape HOST MBIT [KIB]       limits each direction to MBIT Mbit/s; packets are lost if KIB KiB of them wait (default:
                                as many as pass in 5 ms, at least 64)
    unshape HOST                removes the limit
    lost HOST                   an error if the queue of either direction has lost no packet since shape
    reset HOST                  the state at the start: connected, with the limit that virtual_hosts.py --rate gave

Each direction has its own queue. At 100 Mbit/s a long transfer by TCP loses packets in both directions with the default
queue already, and more than half of them with one of 16 KiB; TCP sends them again.

`virtual_links.py "cut 2 3.5"` sends a request from a shell, request() from Python, links.h from C and C++.
"""

import json
import math
import os
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable

CONTROL = "SYNCYTE_VIRTUAL_HOSTS_CONTROL"  # variable with the path of the server's socket
HOST = "SYNCYTE_VIRTUAL_HOST"  # variable with the number of a process's host


class Unsupported(Exception):
    """This machine cannot limit rates."""


def request(text: str, seconds: float = 10.0) -> str:
    """Sends a request from a process on a virtual host, or from the command that runs on all of them."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(seconds)
        connection.connect(os.environ[CONTROL])
        connection.sendall(text.encode() + b"\n")
        return connection.makefile(encoding="utf-8").readline().strip()


def tbf(mbit: float, kib: float | None = None) -> list[str]:
    """Words of tc: a token bucket of this rate, whose queue has this length."""
    per_ms = mbit * 125
    limit = max(5 * per_ms, 65536) if kib is None else kib * 1024
    # tc divides packets that are longer than the burst, so a burst below 64 KiB makes queues lose single packets.
    burst = max(4096, min(per_ms, limit))
    return ["tbf", "rate", f"{mbit * 1e6:.0f}bit", "burst", f"{burst:.0f}", "limit", f"{limit:.0f}"]


def _tc(*words: str) -> str:
    try:
        result = subprocess.run(["tc", *words], capture_output=True, text=True)
    except FileNotFoundError as error:
        raise Unsupported("tc not found (package iproute2)") from error
    if result.returncode != 0:
        raise Unsupported(" ".join(result.stderr.split()))
    return result.stdout


def positive(word: str) -> float:
    number = float(word)
    if not math.isfinite(number) or number <= 0:
        raise ValueError(f"{word} is not a finite number above 0")
    return number


class Links:
    """The links of all hosts. All threads of the process that made the hosts may call the methods."""

    def __init__(self, count: int, mbit: float | None = None):
        self.count = count
        self.mbit = mbit  # the rate at the start; None: unlimited
        self._lock = threading.Lock()
        self._timers: dict[int, threading.Timer] = {}
        self._shaped: set[int] = set()

    def cut(self, host: int, seconds: float | None = None) -> None:
        with self._lock:
            self._switch(host, "down")
            if seconds is not None:
                self._timers[host] = threading.Timer(seconds, self._restore_after, [host])
                self._timers[host].daemon = True
                self._timers[host].start()

    def restore(self, host: int) -> None:
        with self._lock:
            self._switch(host, "up")

    def shape(self, host: int, mbit: float, kib: float | None = None) -> None:
        if kib is not None and kib < 2:
            raise ValueError(f"a queue of {kib:g} KiB is shorter than a packet")
        with self._lock:
            for device in self._devices(host):
                _tc(*device[:-1], "qdisc", "replace", "dev", device[-1], "root", *tbf(mbit, kib))
            self._shaped.add(host)

    def unshape(self, host: int) -> None:
        with self._lock:
            for device in self._devices(host) if host in self._shaped else []:
                _tc(*device[:-1], "qdisc", "delete", "dev", device[-1], "root")
            self._shaped.discard(host)

    def lost(self, host: int) -> None:
        for device in self._devices(host):
            queues = json.loads(_tc(*device[:-1], "-s", "-j", "qdisc", "show", "dev", device[-1]))
            if sum(queue["drops"] for queue in queues) == 0:
                raise ValueError(f"{' '.join(device)} has lost no packet")

    def reset(self, host: int) -> None:
        self.restore(host)
        if self.mbit is None:
            self.unshape(host)
        else:
            self.shape(host, self.mbit)

    def answer(self, line: str) -> str:
        """Does what a request says; returns the answer."""
        try:
            self._call(line.split())
        except Unsupported as error:
            return f"unsupported: {error}"
        except (ValueError, OSError, subprocess.SubprocessError) as error:
            return f"error: {error}"
        return "ok"

    def _call(self, words: list[str]) -> None:
        calls: dict[str, tuple[Callable[..., None], int, int]] = {
            "cut": (self.cut, 0, 1),
            "restore": (self.restore, 0, 0),
            "shape": (self.shape, 1, 2),
            "unshape": (self.unshape, 0, 0),
            "lost": (self.lost, 0, 0),
            "reset": (self.reset, 0, 0),
        }  # each with the least and most numbers after HOST
        if not words or words[0] not in calls:
            raise ValueError(f"the first word must be one of {', '.join(calls)}")
        call, least, most = calls[words[0]]
        if len(words) < 2 or words[1] not in [str(host) for host in range(1, self.count + 1)]:
            raise ValueError(f"the second word must be a host, from 1 to {self.count}")
        if not least <= len(words) - 2 <= most:
            raise ValueError(f"{words[0]} HOST must be followed by {least} to {most} numbers")
        call(int(words[1]), *map(positive, words[2:]))

    def _switch(self, host: int, state: str) -> None:
        timer = self._timers.pop(host, None)
        if timer is not None:
            timer.cancel()
        subprocess.run(["ip", "link", "set", f"port{host}", state], check=True)

    def _restore_after(self, host: int) -> None:
        with self._lock:
            if self._timers.get(host) is threading.current_thread():  # no later request has replaced this timer
                self._switch(host, "up")

    def _devices(self, host: int) -> list[list[str]]:
        """Devices whose queues a host's traffic passes, as words of tc: to the host by the bridge's port, from it."""
        return [[f"port{host}"], ["-n", f"host{host}", "eth0"]]


class _Handler(socketserver.StreamRequestHandler):
    server: "Server"

    def handle(self) -> None:
        for line in self.rfile:
            self.wfile.write(self.server.links.answer(line.decode(errors="replace")).encode() + b"\n")


class Server(socketserver.ThreadingUnixStreamServer):
    """Answers requests at a socket of the file system, which processes of all network namespaces can open."""

    daemon_threads = True

    def __init__(self, path: str, links: Links):
        super().__init__(path, _Handler)
        self.links = links
        threading.Thread(target=self.serve_forever, daemon=True).start()


if __name__ == "__main__":
    answer = request(" ".join(sys.argv[1:]))
    sys.exit(0 if answer == "ok" else answer)
