"""Work divided among processes: the same results in the same order, and no fault that is lost."""

import os
import signal
import threading

import pytest
from vicinity_analysis.errors import InputError
from vicinity_analysis.pages import forks


class Thing:
    """Not to be pickled."""

    def __init__(self):
        self.judge = lambda: None


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_results_are_in_order(processes):
    assert forks.divided(lambda index: index * index, 20, processes=processes) == [index**2 for index in range(20)]


def test_it_is_done_in_other_processes():
    found = forks.divided(lambda _: os.getpid(), 6, processes=2)
    assert os.getpid() not in found and len(set(found)) <= 2


def test_beside_another_thread_it_is_done_here():
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert set(forks.divided(lambda _: os.getpid(), 6, processes=2)) == {os.getpid()}
    finally:
        end.set()
        thread.join()


def test_what_is_kept_is_the_same_object():
    kept = [Thing(), Thing()]
    found = forks.divided(lambda index: (index, kept[index]), 2, kept, processes=2)
    assert [(index, thing is kept[index]) for index, thing in found] == [(0, True), (1, True)]


def test_an_exception_is_raised_here():
    def work(index):
        if index == 3:
            raise InputError("a.jsonl:3: wrong")
        return index

    with pytest.raises(InputError, match="wrong") as error:
        forks.divided(work, 5, processes=2)
    assert "in work" in error.value.__notes__[0]


def test_what_cannot_be_sent_is_an_error():
    with pytest.raises(Exception, match="pickle"):
        forks.divided(lambda _: lambda: None, 2, processes=2)


def test_a_process_that_is_killed_is_told():
    def work(index):
        if index == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return index

    with pytest.raises(InputError, match="ended early"):
        forks.divided(work, 4, processes=2)
