# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The calls of a process group: an Executor runs them in order, and a Work stands for one of them."""
import collections
import datetime
import queue
import sys
import threading
import time

import torch
import torch.distributed

_NO_TIMEOUT = datetime.timedelta(0)


class Executor:
    """Runs the calls of one process group one at a time, in the order in which they were submitted.

    The thread that waits for a call runs it, and those before it, because waking up another thread takes longer than a
    small call. A worker thread runs the calls that nothing waits for yet. It is woken up at once if a call is known to
    be asynchronous; otherwise it looks for calls once per period.

    The thread that runs a call then completes its future, which runs the future's callbacks. These may call collectives
    and wait for them, so another worker runs calls while one is in callbacks. It is started when it is first needed."""

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
        # Guards the states and futures of all works, and the numbers of workers. It is notified when a work is done.
        self.state = threading.Condition(threading.Lock())
        self._calls = collections.deque()
        self._kept = collections.OrderedDict()  # works that nothing has waited for, oldest first
        self._running = threading.Lock()  # held by the thread that runs a call
        self._tokens = queue.SimpleQueue()  # True: look for calls; False: end
        self._is_stopped = False
        self._free = 0  # the number of workers that are not in callbacks
        self._looking = 0  # the number of workers that look for calls once per period
        self._submitted = 0

    def submit(self, work, starts_now):
        """Adds a call. `starts_now`: the caller is going to do something else before it waits."""
        self._kept[work] = None
        if len(self._kept) > self.KEPT_WORKS:
            self._kept.popitem(last=False)
        self._calls.append(work)
        self._submitted += 1
        if starts_now or not self._looking:
            self.wake()

    def release(self, work):
        """Lets a work be collected that has been waited for, or whose future has been taken."""
        self._kept.pop(work, None)

    def wake(self):
        """Lets a worker run all calls."""
        with self.state:
            is_needed = self._free == 0
            if is_needed:
                self._free = 1
        if is_needed:
            threading.Thread(target=self._work, name="huddle", daemon=True).start()
        self._tokens.put(True)

    def stop(self):
        """Ends each worker after the call that it is in. From then on, threads that wait run the calls."""
        self._is_stopped = True
        self._tokens.put(False)

    def run_through(self, work):
        """Returns when `work` is done: runs it and all calls before it, or waits for the thread that does."""
        limit = self.timeout.total_seconds()
        while not work.is_done:
            if not self._running.acquire(timeout=min(limit, threading.TIMEOUT_MAX)):
                raise _timed_out(limit)
            first = None
            try:
                if not work.is_done:
                    first = self._calls[0]
                    self._run_first()
            finally:
                self._running.release()
                if first is not None:
                    first.complete()

    def wait_for(self, work, timeout):
        """Returns when a worker has run `work`. Throws RuntimeError after `timeout`. This thread could not stop in time
        if it ran the call itself."""
        if self._is_stopped:
            self.run_through(work)
            return
        limit = timeout.total_seconds()
        self.wake()
        with self.state:
            if not self.state.wait_for(lambda: work.is_done, min(limit, threading.TIMEOUT_MAX)):
                raise _timed_out(limit)

    def _run_first(self):
        """Requires: there are calls, and this thread holds _running."""
        self._calls[0].run()  # if Ctrl-C interrupts it, the call is done, and the next thread removes it
        self._calls.popleft()

    def _run_all(self):
        """Requires: the calling thread is a worker that looks for calls."""
        while self._calls:
            first = None
            with self._running:
                if self._calls:
                    first = self._calls[0]
                    self._run_first()
            if first is not None and first.has_future:
                self._complete(first)

    def _complete(self, work):
        with self.state:
            self._free -= 1
            self._looking -= 1
        if self._calls:
            self.wake()  # a callback may wait for them; calls from now on wake another worker when they are submitted
        work.complete()
        with self.state:
            self._free += 1
            self._looking += 1

    def _work(self):
        goes_on = True
        while goes_on and self._tokens.get():
            with self.state:
                self._looking += 1
            goes_on = self._look_regularly()
            with self.state:
                self._looking -= 1
            if self._calls:
                self._tokens.put(True)  # a call that was submitted before _looking changed
        self._tokens.put(False)  # for the other workers

    def _look_regularly(self):
        """Runs calls until there have been none for some periods, or another worker looks for them. Returns False if
        the executor has been stopped."""
        idle = 0
        while idle < self.IDLE_PERIODS:
            before = self._submitted
            self._run_all()
            if self._looking > 1:
                break
            try:
                if not self._tokens.get(timeout=self.PERIOD_S):
                    return False
                idle = 0
            except queue.Empty:
                idle = idle + 1 if before == self._submitted else 0
        return True


def _timed_out(limit):
    return RuntimeError(f"Timed out after {limit:g} s: the operation has not been completed by all ranks")


def _mode_for(tensors):
    """Returns a context in which a call may write to `tensors`, whichever thread runs it. It records no gradients."""
    return torch.inference_mode() if any(tensor.is_inference() for tensor in tensors) else torch.no_grad()


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
        self._is_completing = False
        self._records_gradients = True  # in the thread that has taken the future

    @property
    def has_future(self):
        """True if the future of the call has been taken."""
        return self._future is not None

    def run(self):
        """Runs the call, unless it is done. Throws only what interrupts the thread, such as KeyboardInterrupt.
        Requires: the calling thread is the executor's running one."""
        if self.is_done:
            return
        try:
            with _mode_for(self._tensors):
                self._function()
        except Exception as error:  # pylint: disable=broad-exception-caught
            self._error = error
        except BaseException as error:
            self._error = RuntimeError(f"the call was interrupted ({type(error).__name__}); other ranks may have "
                                       "completed it")
            raise
        finally:
            self._function = None
            with self._executor.state:
                self.is_done = True
                self._executor.state.notify_all()

    def complete(self):
        """Completes the future if there is one, once, after the call is done. Runs its callbacks.
        Requires: the calling thread is not the executor's running one."""
        with self._executor.state:
            if self._future is None or not self.is_done or self._is_completing:
                return
            self._is_completing = True
        try:
            with torch.set_grad_enabled(self._records_gradients):
                if self._error is None:
                    self._future.set_result(self._tensors)
                else:
                    self._future.set_exception(self._error)
        except Exception:  # pylint: disable=broad-exception-caught
            # The program has completed the future itself. A worker has to go on with other calls.
            threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))

    def wait(self, timeout=_NO_TIMEOUT):
        """Blocks until the call is done. Throws its error, or RuntimeError if it is not done after `timeout`."""
        self._executor.release(self)
        if not self.is_done:
            if timeout is None or timeout <= _NO_TIMEOUT:
                self._executor.run_through(self)
            else:
                self._executor.wait_for(self, timeout)
        if self._future is not None:
            self.complete()
            while not self._future.done():  # another thread is about to set the result
                time.sleep(0)
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
            if self._future is None:
                self._future = torch.futures.Future()
                self._records_gradients = torch.is_grad_enabled()
            is_done = self.is_done
        if is_done:
            self.complete()
        else:
            self._executor.wake()
        return self._future

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
