# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests of the thread that runs the calls of a process group, without other ranks."""
import datetime
import signal
import threading

import pytest
import torch

from huddle.torch.work import Executor, HuddleWork

LIMIT_S = 20


@pytest.fixture(name="executor")
def _executor():
    made = Executor(datetime.timedelta(seconds=LIMIT_S))
    yield made
    made.stop()


class WithoutWorker(Executor):
    """All calls are run by the threads that wait for them."""

    def wake(self):
        pass


def submit(executor, function, tensors=(), starts_now=False):
    work = HuddleWork(executor, function, list(tensors))
    executor.submit(work, starts_now)
    return work


def test_wait_ends_after_its_timeout(executor):
    end = threading.Event()
    work = submit(executor, lambda: end.wait(LIMIT_S / 4))
    with pytest.raises(RuntimeError, match="Timed out after 0.05 s"):
        work.wait(datetime.timedelta(milliseconds=50))
    assert not work.is_completed()
    end.set()
    assert work.wait(datetime.timedelta(seconds=LIMIT_S)) and work.wait()


def test_calls_run_in_order_although_callbacks_block(executor):
    order, begin, end = [], threading.Event(), threading.Event()
    submit(executor, begin.wait)
    works = [submit(executor, lambda i=i: order.append(i)) for i in range(10)]
    blocked = [work.get_future().then(lambda _: end.wait(LIMIT_S)) for work in works]
    last = submit(executor, lambda: order.append(10))
    begin.set()
    last.get_future().wait()
    assert order == list(range(11))
    end.set()
    torch.futures.wait_all(blocked)


class Interleaved(threading.Condition):
    """Calls a function, once, when a thread leaves the critical section."""
    afterwards = None

    def __exit__(self, *arguments):
        super().__exit__(*arguments)
        function, self.afterwards = self.afterwards, None
        if function is not None:
            function()


def test_future_that_is_taken_at_the_end_of_a_call_is_completed_once():
    executor = WithoutWorker(datetime.timedelta(seconds=LIMIT_S))
    executor.state = Interleaved(threading.Lock())
    futures, completions = [], []

    def take():
        futures.append(work.get_future())
        futures[0].add_done_callback(lambda done: completions.append(done.value()))

    def run():
        executor.state.afterwards = take

    work = submit(executor, run)
    work.wait()
    assert completions == [[]] and futures[0].done()


def test_worker_survives_a_future_that_the_program_completed(executor, monkeypatch):
    reported, begin = threading.Event(), threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda _: reported.set())
    first = submit(executor, begin.wait)
    first.get_future().set_result([])
    begin.set()
    second = submit(executor, lambda: None, starts_now=True)
    second.wait(datetime.timedelta(seconds=LIMIT_S))
    third = submit(executor, lambda: None, starts_now=True)
    third.get_future().wait()
    assert reported.wait(LIMIT_S)


def test_interrupt_reaches_the_thread_that_waits():
    executor, done = WithoutWorker(datetime.timedelta(seconds=LIMIT_S)), []
    first = submit(executor, lambda: signal.raise_signal(signal.SIGINT))
    future = first.get_future()
    second = submit(executor, lambda: done.append(2))
    with pytest.raises(KeyboardInterrupt):
        second.wait()
    with pytest.raises(RuntimeError, match="interrupted"):
        first.wait()
    with pytest.raises(RuntimeError, match="interrupted"):
        future.wait()
    assert second.wait() and done == [2]


@pytest.mark.parametrize("waits", [True, False])
def test_calls_modify_parameters_and_inference_tensors(executor, waits):
    parameter = torch.nn.Parameter(torch.ones(2))
    with torch.inference_mode():
        inferred = torch.ones(2)
    for tensor in (parameter, inferred):
        work = submit(executor, lambda tensor=tensor: tensor.mul_(3), [tensor], True)
        if not waits:
            work.get_future().wait()
        work.wait()
        assert tensor.eq(3).all()
    assert parameter.requires_grad and parameter.is_leaf


def test_callbacks_run_in_the_gradient_mode_of_the_caller(executor):
    begin = threading.Event()
    for grad in (True, False):
        begin.clear()
        with torch.set_grad_enabled(grad):
            future = submit(executor, begin.wait).get_future().then(lambda _: torch.is_grad_enabled())
        begin.set()
        assert future.wait() is grad
