# SPDX-License-Identifier: BSD-3-Clause
"""torch.distributed's rendezvous in an MPI job: rank 0's store listens at a port that the system chooses.

The other ranks get address and port by MPI, so that no port is guessed, and no two jobs meet. MPI starts with the first
rendezvous, not before. A process group of a part of the job's ranks, as those of one program, meets as torch does it.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import socket
import struct
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlparse

import numpy as np

from . import _launcher
from .comm import COMM_WORLD, Comm
from .errors import ArgumentError, Error

_MODULE = "torch.distributed.rendezvous"
_MASTER = "MASTER_ADDR", "MASTER_PORT"
_PROBE_SECONDS = 5.0

_ours: dict[str, str] = {}  # MASTER_ADDR and MASTER_PORT as the last rendezvous has set them

Rendezvous = Iterator[tuple[Any, int, int]]


def _addresses() -> list[str]:
    """Returns this node's IPv4 addresses, the one of its name first; addresses of the loopback device only if alone."""
    found: list[str] = []
    with contextlib.suppress(OSError):
        found.append(socket.gethostbyname(socket.gethostname()))
    siocgifaddr = 0x8915  # of Linux: the address of an interface
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asks:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):
                answer = fcntl.ioctl(asks.fileno(), siocgifaddr, struct.pack("256s", name.encode()[:15]))
                found.append(socket.inet_ntoa(answer[20:24]))
    found = list(dict.fromkeys(found))
    return [each for each in found if not each.startswith("127.")] or found


def _broadcast(comm: Comm, value: Any) -> Any:
    """Returns rank 0's value, of types that JSON has."""
    text = np.frombuffer(json.dumps(value).encode(), np.uint8).copy()
    size = comm.bcast(np.array([text.size]))
    if comm.rank != 0:
        text = np.empty(size[0], np.uint8)
    return json.loads(bytes(comm.bcast(text)))


def _served(comm: Comm, timeout: timedelta) -> tuple[Any, dict[str, Any]]:
    """Makes rank 0's store; returns it, and on all ranks where it is."""
    from torch.distributed import TCPStore

    store, place = None, {}
    if comm.rank == 0:
        try:
            store = TCPStore("127.0.0.1", 0, None, True, timeout, wait_for_workers=False)
            store.set("syncyte/job", str(os.getpid()))
            place = {"port": store.port, "addresses": ["127.0.0.1"] if comm.topology.nodes == 1 else _addresses(),
                     "job": str(os.getpid())}  # fmt: skip
        except Exception as error:
            place = {"error": f"{type(error).__name__}: {error}"}
    place = _broadcast(comm, place)
    if "error" in place:
        raise Error(f"rank 0 cannot make torch.distributed's store: {place['error']}")
    return store, place


def _connected(address: str, place: dict[str, Any], timeout: timedelta) -> Any:
    """Returns a client of rank 0's store, or None if the store cannot be reached at this address."""
    from torch.distributed import TCPStore

    try:
        # torch looks names of addresses up before it connects, which may take long: first see whether somebody listens.
        socket.create_connection((address, place["port"]), _PROBE_SECONDS).close()
        client = TCPStore(address, place["port"], None, False, timeout)
        return client if client.get("syncyte/job").decode() == place["job"] else None
    except (OSError, RuntimeError):  # torch's errors of stores are RuntimeErrors
        return None


def _new_store(comm: Comm, timeout: timedelta) -> Any:
    """Makes a store that all ranks share. Collective; raises syncyte.Error on all ranks if one cannot reach rank 0."""
    store, place = _served(comm, timeout)
    for address in place["addresses"]:
        mine = store or _connected(address, place, timeout)
        if comm.allreduce(np.array([mine is not None], np.int32), "min")[0]:
            _ours.update(MASTER_ADDR=address, MASTER_PORT=str(place["port"]))
            os.environ.update(_ours)
            return mine
    raise Error(
        f"torch.distributed's store of rank 0, port {place['port']}, cannot be reached from all ranks at "
        f"{' or '.join(place['addresses'])}; set MASTER_ADDR and MASTER_PORT, which all ranks reach, on all of them"
    )


class _Meetings:
    """Rendezvous of all ranks by one store, each with keys of its own."""

    def __init__(self) -> None:
        self._store: Any = None
        self._process = 0
        self._count = 0

    def store(self, comm: Comm, timeout: timedelta) -> Any:
        """Returns the store for a further rendezvous. Collective."""
        from torch.distributed import PrefixStore

        if self._store is None or self._process != os.getpid():
            self._store, self._process, self._count = _new_store(comm, timeout), os.getpid(), 0
        self._count += 1
        return PrefixStore(f"syncyte/{self._count}", self._store)


_meetings = _Meetings()


def _require_place(comm: Comm, rank: int, size: int) -> None:
    """Raises on all ranks if torch's rank or number of ranks is not MPI's on one of them."""
    claims = comm.allgather(np.array([rank, size])).reshape(-1, 2)
    for number, (its_rank, its_size) in enumerate(claims.tolist()):
        if (its_rank, its_size) != (number, comm.size):
            raise ArgumentError(
                f"init_process_group on rank {number} of {comm.size}: rank is {its_rank} and world_size is {its_size} "
                f"(arguments, or RANK and WORLD_SIZE); expected MPI's {number} and {comm.size}"
            )


def _by_mpi(url: str, timeout: timedelta | None) -> Rendezvous:
    from torch.distributed.constants import default_pg_timeout

    given = dict(parse_qsl(urlparse(url).query))
    comm = COMM_WORLD
    rank, size = (int(given.get(name, mpi)) for name, mpi in (("rank", comm.rank), ("world_size", comm.size)))
    _require_place(comm, comm.rank if rank < 0 else rank, comm.size if size < 0 else size)
    yield _meetings.store(comm, timeout or default_pg_timeout), comm.rank, comm.size
    raise RuntimeError("no second rendezvous by one generator; call init_process_group again")


def _syncyte_handler(url: str, timeout: timedelta | None = None, **_: Any) -> Rendezvous:
    return _by_mpi(url, timeout)


def _is_of_all_ranks(url: str) -> bool:
    """Whether a group has all ranks of the job; None are said, or as many as the launcher says."""
    size = dict(parse_qsl(urlparse(url).query)).get("world_size", os.environ.get("WORLD_SIZE"))
    place = _launcher.place_of(os.environ)
    return size is None or place is None or int(size) in (place.size, -1)


def _env_handler(original: Callable[..., Rendezvous]) -> Callable[..., Rendezvous]:
    """torch's handler of env://, which keeps what the user has set: only without an address it is found by MPI."""

    def handler(url: str, timeout: timedelta | None = None, **more: Any) -> Rendezvous:
        set_by_user = any(os.environ.get(name) not in (None, "", _ours.get(name)) for name in _MASTER)
        if not set_by_user and _is_of_all_ranks(url):
            return _by_mpi(url, timeout)
        for name, value in _launcher.master_variables(os.environ).items():
            os.environ.setdefault(name, value)
        return original(url, **more) if timeout is None else original(url, timeout=timeout, **more)

    return handler


def _add_handlers(module: Any) -> None:
    handlers = module._rendezvous_handlers
    if "syncyte" not in handlers:
        handlers["syncyte"] = _syncyte_handler
        handlers["env"] = _env_handler(handlers["env"])


class _AfterImport(importlib.abc.MetaPathFinder):
    """Adds the handlers once torch's module has been imported; a script without torch does not wait for it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def run_and_add(module: types.ModuleType) -> None:
            run(module)
            _add_handlers(module)

        spec.loader.exec_module = run_and_add  # type: ignore[method-assign]
        return spec


def install() -> None:
    """Makes ``env://`` and ``syncyte://`` meet by MPI, in this process. Local; does not import torch."""
    if _MODULE in sys.modules:
        _add_handlers(sys.modules[_MODULE])
    elif not any(isinstance(each, _AfterImport) for each in sys.meta_path):
        sys.meta_path.insert(0, _AfterImport())
