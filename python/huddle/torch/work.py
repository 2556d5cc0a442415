# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The calls of a process group: an Executor runs them in order, and a Work stands for one of them."""
import collections
import datetime
import queue
import threading

import torch
import torch.distributed

_NO_TIMEOUT = datetime.timedelta(0)


class Executor:
    """Runs the calls of one process group one at a time, in the order in which they were submitted.

    The thread that waits for a call runs it, and those before it, because waking up another thread takes longer than a
    small call. A worker thread runs the calls that nothing waits for yet. It is woken up at once if a call is known to
    be asynchronous; otherwise it looks for calls once per period."""

    # The delay of an asynchronous call of a PyTorch that does not mark such calls, and the reciprocal of the rate at
    # which the worker takes the GIL, for about 10 us, while a program communicates.
    PERIOD_S = 0.001
    # C++ callers of PyTorch 1 keep only the C++ part of a Work, which without its Python part would wait forever. They
    # wait for two calls at most, or take the future at once, so works beyond this number are unused ones of Python.
    KEPT_WORKS = 64
    # The worker sleeps after this number of periods without a call, so that an idle program has no cost.
    IDLE_PERIODS = 50

    def __init__(self, timeout):
        self.timeout = timeout
        self.state = threading.Lock()  # guards the futures of all works, which exist for few of them
        self._calls = collections.deque()
        self._kept = collections.OrderedDict()  # works that nothing has waited for, oldest first
        self._running = threading.Lock()  # held by the thread that runs a call
        self._tokens = queue.SimpleQueue()  # True: look for calls; False: end
        self._thread = None
        self._looks = False
        self._submitted = 0

    def submit(self, work, starts_now):
        """Adds a call. `starts_now`: the caller is going to do something else before it waits."""
        self._kept[work] = None
        if len(self._kept) > self.KEPT_WORKS:
            self._kept.popitem(last=False)
        self._calls.append(work)
        self._submitted += 1
        if starts_now or not self._looks:
            self.wake()

    def release(self, work):
        """Lets a work be collected that has been waited for, or whose future has been taken."""
        self._kept.pop(work, None)

    def wake(self):
        """Lets the worker run all calls."""
        self._looks = True
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="huddle", daemon=True)
            self._thread.start()
        self._tokens.put(True)

    def stop(self):
        """Ends the worker after the call that it is in."""
        self._tokens.put(False)

    def run_through(self, work, timeout):
        """Returns when `work` is done: runs it and all calls before it, or waits for the thread that does."""
        limit = (self.timeout if timeout in (None, _NO_TIMEOUT) else timeout).total_seconds()
        while not work.is_done:
            if not self._running.acquire(timeout=min(limit, threading.TIMEOUT_MAX)):
                raise RuntimeError(f"Timed out after {limit:g} s: the operation has not been completed by all ranks")
            try:
                if not work.is_done:
                    self._calls.popleft().run()
            finally:
                self._running.release()

    def _run_all(self):
        while self._calls:
            with self._running:
                if self._calls:
                    self._calls.popleft().run()

    def _work(self):
        while self._tokens.get():
            if not self._look_regularly():
                return

    def _look_regularly(self):
        """Runs calls until there have been none for some periods. Returns False if the executor has been stopped."""
        idle = 0
        while idle < self.IDLE_PERIODS:
            before = self._submitted
            self._run_all()
            try:
                if not self._tokens.get(timeout=self.PERIOD_S):
                    return False
                idle = 0
            except queue.Empty:
                idle = idle + 1 if before == self._submitted else 0
        self._looks = False
        self._run_all()  # a call that was submitted before _looks changed
        return True


class HuddleWork(torch.distributed._Work):  # pylint: disable=protected-access
    """One call. As with Gloo, wait() throws what the call threw."""

    def __init__(self, executor, function, tensors):
        super().__init__()
        self.is_done = False
        self._executor = executor
        self._function = function
        self._tensors = tensors
        self._error = None
        self._future = None

    def run(self):
        """Runs the call. Requires: the calling thread is the executor's running one."""
        try:
            self._function()
        except BaseException as error:  # pylint: disable=broad-exception-caught
            self._error = error
        self._function = None
        with self._executor.state:
            self.is_done = True
        if self._future is not None:
            self._complete()

    def _complete(self):
        if self._error is None:
            self._future.set_result(self._tensors)
        else:
            self._future.set_exception(self._error)

    def wait(self, timeout=_NO_TIMEOUT):
        """Blocks until the call is done. Throws its error."""
        self._executor.release(self)
        if not self.is_done:
            self._executor.run_through(self, timeout)
        if self._error is not None:
            raise self._error
        return True

    def synchronize(self):
        """The same as wait()."""
        self.wait()

    def get_future(self):
        """Returns a torch.futures.Future of the list of tensors."""
        self._executor.release(self)
        with self._executor.state:
            future, is_done = self._future, self.is_done
            if future is None:
                future = self._future = torch.futures.Future()
            else:
                return future
        if is_done:
            self._complete()
        else:
            self._executor.wake()
        return future

    def is_completed(self):
        """Returns whether the call is done."""
        if not self.is_done:
            self._executor.wake()
        return self.is_done

    def is_success(self):
        """Returns whether the call is done and succeeded."""
        return self.is_done and self._error is None

    def exception(self):
        """Returns what the call threw; None if nothing."""
        return self._error

    def result(self):
        """Returns the list of tensors that contain the result, once the call is done."""
        self.wait()
        return self._tensors

    def source_rank(self):
        """Throws, because collectives have no source."""
        raise RuntimeError("only a received message has a source rank")
