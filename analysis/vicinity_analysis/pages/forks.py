"""Work divided among copies of this process, which need to be told nothing: they have what it has in memory."""

import gc
import io
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from vicinity_analysis.errors import InputError

R = TypeVar("R")
MOST = 8  # processes


def divided(work: Callable[[int], R], count: int, kept: Iterable[object] = (), processes: int | None = None) -> list[R]:
    """work(0) to work(count - 1), each done in whichever process is free; an exception is raised here. Objects of
    `kept` that are in a result are not copied: they are this process's own. Without a fork that is safe (another
    system than Linux, several threads) or a second core, everything is done here."""
    processes = min(processes or cores(), count, MOST)
    if processes < 2 or sys.platform != "linux" or threading.active_count() > 1:
        return [work(index) for index in range(count)]
    gc.freeze()  # what is in memory stays: no process searches it for garbage, and so none copies it
    context = multiprocessing.get_context("fork")
    following = context.Value("i", 0)  # what is done next
    own = {id(one): one for one in kept}
    readers: list[Connection] = []
    children = []
    found: dict[int, R] = {}
    try:
        for _ in range(processes):
            reader, writer = context.Pipe(duplex=False)
            readers.append(reader)
            child = context.Process(target=_work, args=(work, count, own, following, list(readers), writer))
            with warnings.catch_warnings():  # those of numpy's BLAS count as threads, but are at rest
                warnings.simplefilter("ignore", DeprecationWarning)
                child.start()
            children.append(child)
            writer.close()
        while readers:
            for ready in wait(readers):
                _receive(ready, readers, own, found)
        if len(found) < count:
            raise InputError("a process that helped ended early; is there enough memory?")
    finally:
        for child in children:
            child.terminate()
            child.join()
        gc.unfreeze()
    return [found[index] for index in range(count)]


def cores() -> int:
    """That this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _receive(ready: Connection, readers: list[Connection], own: Mapping[int, object], found: dict[int, Any]) -> None:
    try:
        data = ready.recv_bytes()
    except EOFError:  # it has ended
        readers.remove(ready)
        return
    index, result, error = _Reader(io.BytesIO(data), own).load()
    if error is not None:
        raise error
    found[index] = result


def _work(
    work: Callable[[int], object],
    count: int,
    own: Mapping[int, object],
    following: Any,  # noqa: ANN401
    readers: list[Connection],
    writer: Connection,
) -> None:
    """In the child. Where it ends without a word, the end of its pipe tells; where the pipe has no reader, it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it, too, and ends the children
    for one in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)
    for reader in readers:
        reader.close()
    while True:
        with following.get_lock():
            index, following.value = following.value, following.value + 1
        if index >= count:
            return
        try:
            data = _written((index, work(index), None), own)
        except Exception as error:
            error.add_note(traceback.format_exc())
            data = _written((index, None, error), own)
        try:
            writer.send_bytes(data)
        except BrokenPipeError:
            return


def _written(result: tuple[int, object, Exception | None], own: Mapping[int, object]) -> bytes:
    data = io.BytesIO()
    _Writer(data, own).dump(result)
    return data.getvalue()


class _Writer(pickle.Pickler):
    """Names objects that the parent has by where they lie in memory, which a fork keeps."""

    def __init__(self, file: io.BytesIO, own: Mapping[int, object]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.own = own

    def persistent_id(self, found: object) -> int | None:
        return id(found) if id(found) in self.own else None


class _Reader(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, own: Mapping[int, object]) -> None:
        super().__init__(file)
        self.own = own

    def persistent_load(self, name: int) -> object:
        return self.own[name]
