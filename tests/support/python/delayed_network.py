#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A network between network namespaces that delays each packet: a process that forwards Ethernet frames.

Each namespace has a TAP device. A frame from one device goes to all others, as in a hub. Linux's own means, tc's netem,
is missing on some machines.
"""

import collections
import ctypes
import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import time

CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
TUNSETIFF = 0x400454CA
TAP_WITHOUT_HEADER = 0x1002  # IFF_TAP | IFF_NO_PI
LONGEST_FRAME = 65536


def start(milliseconds: float, namespaces: list[str], device: str) -> None:
    """Starts the process, which ends with this one; returns when it has opened the namespaces' TAP devices."""
    process = subprocess.Popen(
        [sys.executable, "-SEB", __file__, str(milliseconds), device, *namespaces], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    if process.stdout.readline() != "ready\n":
        raise OSError("the delayed network did not start")


def open_tap(namespace: str, device: str) -> int:
    """A descriptor of a TAP device in a network namespace, which this process enters."""
    with open(f"/run/netns/{namespace}", "rb") as file:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"setns {namespace}")
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", device.encode(), TAP_WITHOUT_HEADER))
    return tap


def receive(tap: int, due: float, waiting: collections.deque[tuple[float, int, bytes]]) -> None:
    while True:
        try:
            waiting.append((due, tap, os.read(tap, LONGEST_FRAME)))
        except BlockingIOError:
            return


def send(frame: bytes, taps: list[int]) -> None:
    for tap in taps:
        try:
            os.write(tap, frame)
        except OSError:
            pass  # a full queue, or a device that is down, loses packets


def forward(taps: list[int], seconds: float) -> None:
    waiting: collections.deque[tuple[float, int, bytes]] = collections.deque()
    while True:
        pause = None if not waiting else max(0.0, waiting[0][0] - time.monotonic())
        readable = select.select(taps, [], [], pause)[0]
        now = time.monotonic()
        for tap in readable:
            receive(tap, now + seconds, waiting)
        while waiting and waiting[0][0] <= time.monotonic():
            _, source, frame = waiting.popleft()
            send(frame, [tap for tap in taps if tap != source])


def main() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    milliseconds, device, *namespaces = sys.argv[1:]
    taps = [open_tap(namespace, device) for namespace in namespaces]
    print("ready", flush=True)
    forward(taps, float(milliseconds) * 1e-3)


if __name__ == "__main__":
    main()
