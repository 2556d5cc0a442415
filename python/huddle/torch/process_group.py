# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The process group of the back end "huddle". libhuddle runs the collectives of CPU tensors; a Gloo group beside it
runs everything else, and throws Gloo's errors for invalid arguments."""
import warnings

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as options

from ..errors import Error, Misused
from ..library import library, process_context
from ..rendezvous import gather_from_store
from ..team import Team
from .tensors import (TYPES, Writable, are_local_and_equal, blocks_of, bytes_of, is_average, is_local, operator_for,
                      require_equal_own_blocks, sizes_of, split_blocks)
from .work import Executor, HuddleWork


def _team_of(store, rank, size):
    """Returns a Team, or None and the reason if the ranks cannot share memory: the same on all ranks. Throws Error on
    all ranks if libhuddle cannot be used on one."""
    allgather = gather_from_store(store, rank, size, "huddle")
    reason = b""
    try:
        process_context()
    except Error as error:
        reason = str(error).encode()
    for peer, failure in enumerate(allgather(reason)):
        if failure:
            raise Error(f"rank {peer} cannot use huddle: {failure.decode()}")
    try:
        return Team.by_gather(rank, size, allgather), ""
    except Error as error:
        return None, str(error)


def create(store, rank, size, timeout):
    """Creates the group for torch.distributed. Collective."""
    gloo = dist.ProcessGroupGloo(dist.PrefixStore("gloo", store), rank, size, timeout=timeout)
    team, reason = _team_of(store, rank, size)
    if team is None and rank == 0:
        warnings.warn(f"huddle leaves all calls of a process group to Gloo: {reason}", stacklevel=2)
    if team is not None:
        team.set_timeout(timeout.total_seconds())
    return ProcessGroupHuddle(rank, size, gloo, team, timeout)


class ProcessGroupHuddle(dist.ProcessGroup):
    """The methods have the arguments of those of dist.ProcessGroup, which torch.distributed calls."""

    def __init__(self, rank, size, gloo, team, timeout):
        super().__init__(rank, size)
        self._gloo = gloo
        self._team = team  # None if Gloo runs all calls
        self._lib = library()
        self._size = size
        self._me = rank
        self._name = ""
        self._executor = Executor(timeout)

    def __del__(self):
        self._executor.stop()

    def getBackendName(self):  # pylint: disable=invalid-name
        """Returns the name for PyTorch's messages."""
        return "huddle"

    def name(self):
        """The same."""
        return "huddle"

    # PyTorch 2 finds groups by their names, which a ProcessGroup of C++ stores in back ends that this class lacks. C++
    # callers call these methods, Python callers use the names below. PyTorch 1.13 uses none of them.

    def getGroupName(self):  # pylint: disable=invalid-name
        """Returns the name that torch.distributed has given the group."""
        return self._name

    def setGroupName(self, name):  # pylint: disable=invalid-name
        """Sets this name."""
        self._name = name

    group_name = property(getGroupName)
    _set_group_name = setGroupName

    def uses_huddle(self):
        """Returns whether libhuddle runs the collectives of this group, rather than Gloo."""
        return self._team is not None

    def shutdown(self):
        """Ends the group's thread."""
        self._executor.stop()

    def _set_sequence_number_for_group(self):
        pass

    def _get_sequence_number_for_group(self):
        return 0

    def _submit(self, opts, tensors, function):
        work = HuddleWork(self._executor, function, tensors)
        self._executor.submit(work, getattr(opts, "asyncOp", False))
        return work

    # ---- one tensor ----

    def allreduce(self, tensors, opts=None):
        """Reduces a tensor in place on all ranks."""
        tensors = [tensors] if isinstance(tensors, torch.Tensor) else tensors
        opts = _with_operator(opts, options.AllreduceOptions)
        if self._team is None or len(tensors) != 1 or operator_for(tensors[0], opts.reduceOp) is None:
            return self._gloo.allreduce(tensors, opts)
        op = opts.reduceOp
        return self._submit(opts, tensors, lambda: self._allreduce(tensors[0], op))

    def allreduce_coalesced(self, tensors, opts=None):
        """Reduces several tensors in place on all ranks."""
        opts = opts or options.AllreduceCoalescedOptions()
        op = opts.reduceOp
        if self._team is None or any(operator_for(tensor, op) is None for tensor in tensors):
            return self._gloo.allreduce_coalesced(tensors, opts)

        def run():
            for tensor in tensors:
                self._allreduce(tensor, op)

        return self._submit(opts, tensors, run)

    def _allreduce(self, tensor, op):
        dense = tensor if tensor.is_contiguous() else tensor.contiguous()
        address = dense.data_ptr()
        self._team.call(self._lib.huddle_allreduce, address, address, dense.numel(), TYPES[dense.dtype],
                        operator_for(dense, op))
        self._divide(dense, op)
        if dense is not tensor:
            tensor.copy_(dense)

    def _divide(self, tensor, op):
        if is_average(op):
            tensor.div_(self._size)

    def reduce(self, tensors, opts=None):
        """Reduces a tensor in place on the root."""
        opts = opts or options.ReduceOptions()
        op, root = opts.reduceOp, opts.rootRank
        if self._team is None or len(tensors) != 1 or operator_for(tensors[0], op) is None:
            return self._gloo.reduce(tensors, opts)
        return self._submit(opts, tensors, lambda: self._reduce(tensors[0], op, root))

    def _reduce(self, tensor, op, root):
        inout = Writable([tensor])
        dense = inout.dense[0]
        self._team.call(self._lib.huddle_reduce, dense.data_ptr(), dense.data_ptr(), dense.numel(),
                        TYPES[dense.dtype], operator_for(dense, op), root)
        if self._me == root:
            self._divide(dense, op)
            inout.store()

    def broadcast(self, tensors, opts=None):
        """Copies a tensor of the root to all ranks."""
        opts = opts or options.BroadcastOptions()
        root = opts.rootRank
        if self._team is None or len(tensors) != 1 or not is_local(tensors[0]):
            return self._gloo.broadcast(tensors, opts)
        return self._submit(opts, tensors, lambda: self._broadcast(tensors[0], root))

    def _broadcast(self, tensor, root):
        inout = Writable([tensor], reads=self._me == root)
        self._team.call(self._lib.huddle_bcast, inout.dense[0].data_ptr(), bytes_of(tensor), root)
        if self._me != root:
            inout.store()

    def barrier(self, opts=None):
        """Returns a Work that is done after all ranks have called this."""
        opts = opts or options.BarrierOptions()
        if self._team is None:
            return self._gloo.barrier(opts)
        return self._submit(opts, [], lambda: self._team.call(self._lib.huddle_barrier))

    # ---- gathers and scatters ----

    def allgather(self, output_lists, inputs, opts=None):
        """Gathers the tensors of all ranks in a list on each."""
        opts = opts or options.AllgatherOptions()
        if not self._has_lists(output_lists, inputs):
            return self._gloo.allgather(output_lists, inputs, opts)
        return self._submit(opts, output_lists[0], lambda: self._allgather(output_lists[0], inputs[0]))

    def _allgather(self, outputs, given):
        out, dense = Writable(outputs, reads=False), given.contiguous()
        base, blocks = blocks_of(out.dense)
        self._team.call(self._lib.huddle_allgatherv, dense.data_ptr(), base, blocks)
        out.store()

    def allgather_coalesced(self, output_lists, inputs, opts=None):
        """Gathers several tensors of all ranks, by Gloo, because torch.distributed deprecates this function."""
        return self._gloo.allgather_coalesced(output_lists, inputs, opts or options.AllgatherOptions())

    def _has_lists(self, lists, tensors):
        """Returns whether libhuddle can run a call of one tensor and one list with a tensor for each rank."""
        return (self._team is not None and len(lists) == 1 and len(tensors) == 1 and len(lists[0]) == self._size
                and are_local_and_equal(lists[0], tensors[0]))

    def _has_parts(self, whole, part):
        """Returns whether libhuddle can run a call of one tensor for all ranks and one for this rank."""
        return (self._team is not None and is_local(whole) and is_local(part) and whole.dtype is part.dtype
                and whole.numel() == part.numel() * self._size)

    def _allgather_base(self, output, given, opts=None):
        opts = opts or options.AllgatherOptions()
        if not self._has_parts(output, given):
            return self._gloo._allgather_base(output, given, opts)  # pylint: disable=protected-access
        return self._submit(opts, [output], lambda: self._allgather_tensor(output, given))

    def allgather_into_tensor_coalesced(self, outputs, inputs, opts=None):
        """Gathers several tensors."""
        opts = opts or options.AllgatherOptions()
        if not all(self._has_parts(output, given) for output, given in zip(outputs, inputs)):
            return self._gloo.allgather_into_tensor_coalesced(outputs, inputs, opts)

        def run():
            for output, given in zip(outputs, inputs):
                self._allgather_tensor(output, given)

        return self._submit(opts, outputs, run)

    def _allgather_tensor(self, output, given):
        out, dense = Writable([output], reads=False), given.contiguous()
        self._team.call(self._lib.huddle_allgather, dense.data_ptr(), out.dense[0].data_ptr(), bytes_of(dense))
        out.store()

    def gather(self, output_lists, inputs, opts=None):
        """Gathers the tensors of all ranks in a list on the root."""
        opts = opts or options.GatherOptions()
        root = opts.rootRank
        if not (self._has_lists(output_lists, inputs) if self._me == root else self._has_one(output_lists, inputs)):
            return self._gloo.gather(output_lists, inputs, opts)
        outputs = output_lists[0] if self._me == root else []
        return self._submit(opts, outputs, lambda: self._gather(outputs, inputs[0], root))

    def _has_one(self, lists, tensors):
        return self._team is not None and not lists and len(tensors) == 1 and is_local(tensors[0])

    def _gather(self, outputs, given, root):
        out, dense = Writable(outputs, reads=False), given.contiguous()
        base, blocks = blocks_of(out.dense) if outputs else (None, None)
        self._team.call(self._lib.huddle_gatherv, dense.data_ptr(), bytes_of(dense), base, blocks, root)
        out.store()

    def scatter(self, outputs, input_lists, opts=None):
        """Sends the tensors of a list of the root to the ranks."""
        opts = opts or options.ScatterOptions()
        root = opts.rootRank
        if not (self._has_lists(input_lists, outputs) if self._me == root else self._has_one(input_lists, outputs)):
            return self._gloo.scatter(outputs, input_lists, opts)
        inputs = input_lists[0] if self._me == root else []
        return self._submit(opts, outputs, lambda: self._scatter(outputs[0], inputs, root))

    def _scatter(self, output, inputs, root):
        out, dense = Writable([output], reads=False), [tensor.contiguous() for tensor in inputs]
        base, blocks = blocks_of(dense) if inputs else (None, None)
        self._team.call(self._lib.huddle_scatterv, base, blocks, out.dense[0].data_ptr(), bytes_of(output), root)
        out.store()

    # ---- reduce-scatters ----

    def reduce_scatter(self, outputs, input_lists, opts=None):
        """Reduces lists of tensors, and gives each rank one tensor of the result."""
        opts = opts or options.ReduceScatterOptions()
        op = opts.reduceOp
        if not self._has_reducible_lists(outputs, input_lists, op):
            return self._gloo.reduce_scatter(outputs, input_lists, opts)
        return self._submit(opts, outputs, lambda: self._reduce_scatter_list(outputs[0], input_lists[0], op))

    def _has_reducible_lists(self, outputs, lists, op):
        """Lists may contain tensors of different sizes; that of this rank has the size of the output."""
        if self._team is None or len(outputs) != 1 or len(lists) != 1 or len(lists[0]) != self._size:
            return False
        output = outputs[0]
        return (operator_for(output, op) is not None and lists[0][self._me].numel() == output.numel()
                and all(tensor.dtype is output.dtype and is_local(tensor) for tensor in lists[0]))

    def _reduce_scatter_list(self, output, inputs, op):
        flat = torch.cat([tensor.reshape(-1) for tensor in inputs])
        out = Writable([output], reads=False)
        dense = out.dense[0]
        self._team.call(self._lib.huddle_reduce_scatter, flat.data_ptr(), dense.data_ptr(),
                        sizes_of([tensor.numel() for tensor in inputs]), TYPES[dense.dtype], operator_for(dense, op))
        self._divide(dense, op)
        out.store()

    def _reduce_scatter_base(self, output, given, opts=None):
        opts = opts or options.ReduceScatterOptions()
        op = opts.reduceOp
        if not self._has_parts(given, output) or operator_for(output, op) is None:
            return self._gloo._reduce_scatter_base(output, given, opts)  # pylint: disable=protected-access
        return self._submit(opts, [output], lambda: self._reduce_scatter_tensor(output, given, op))

    def reduce_scatter_tensor_coalesced(self, outputs, inputs, opts=None):
        """Reduces and scatters several tensors."""
        opts = opts or options.ReduceScatterOptions()
        op = opts.reduceOp
        if not all(self._has_parts(given, output) and operator_for(output, op) is not None
                   for output, given in zip(outputs, inputs)):
            return self._gloo.reduce_scatter_tensor_coalesced(outputs, inputs, opts)

        def run():
            for output, given in zip(outputs, inputs):
                self._reduce_scatter_tensor(output, given, op)

        return self._submit(opts, outputs, run)

    def _reduce_scatter_tensor(self, output, given, op):
        out, dense = Writable([output], reads=False), given.contiguous()
        block = out.dense[0]
        self._team.call(self._lib.huddle_reduce_scatter_block, dense.data_ptr(), block.data_ptr(), block.numel(),
                        TYPES[dense.dtype], operator_for(dense, op))
        self._divide(block, op)
        out.store()

    # ---- exchanges between all ranks ----

    def alltoall(self, outputs, inputs, opts=None):
        """Sends a tensor to each rank and receives one from each."""
        opts = opts or options.AllToAllOptions()
        if self._team is None or not all(is_local(tensor) for tensor in [*outputs, *inputs]) or \
                len(outputs) != self._size or len(inputs) != self._size:
            return self._gloo.alltoall(outputs, inputs, opts)
        require_equal_own_blocks(bytes_of(inputs[self._me]), bytes_of(outputs[self._me]))
        return self._submit(opts, outputs, lambda: self._alltoall(outputs, inputs))

    def _alltoall(self, outputs, inputs):
        out, dense = Writable(outputs, reads=False), [tensor.contiguous() for tensor in inputs]
        (source, outgoing), (target, incoming) = blocks_of(dense), blocks_of(out.dense)
        if source == target:
            # libhuddle would assume an exchange in place, which requires the same of the other ranks.
            dense = [tensor.clone() for tensor in dense]
            source, outgoing = blocks_of(dense)
        self._team.call(self._lib.huddle_alltoallv, source, outgoing, target, incoming)
        out.store()

    def alltoall_base(self, output, given, output_rows, input_rows, opts=None):
        """Sends rows of a tensor to each rank and receives rows from each."""
        opts = opts or options.AllToAllOptions()
        if self._team is None or not is_local(output) or not is_local(given) or output.dtype is not given.dtype:
            return self._gloo.alltoall_base(output, given, output_rows, input_rows, opts)
        if not output_rows and not input_rows and output.numel() != given.numel():
            raise Misused(f"the input has {given.numel()} elements and the output {output.numel()}; without split "
                          "sizes they need equal numbers")
        are_rows = bool(output_rows or input_rows)
        outgoing = split_blocks(given, "input", input_rows, self._size, are_rows)
        incoming = split_blocks(output, "output", output_rows, self._size, are_rows)
        require_equal_own_blocks(outgoing[self._me].bytes, incoming[self._me].bytes)
        return self._submit(opts, [output], lambda: self._alltoall_tensor(output, given, outgoing, incoming))

    def _alltoall_tensor(self, output, given, outgoing, incoming):
        out, dense = Writable([output], reads=False), given.contiguous()
        target = out.dense[0]
        if dense.data_ptr() == target.data_ptr():
            dense = dense.clone()  # see _alltoall()
        # Other ranks may state split sizes although this rank does not, so all call the same function.
        self._team.call(self._lib.huddle_alltoallv, dense.data_ptr(), outgoing, target.data_ptr(), incoming)
        out.store()

    # ---- messages between two ranks, by Gloo ----

    def send(self, *arguments):
        """Sends a tensor to a rank."""
        return self._gloo.send(*arguments)

    def recv(self, *arguments):
        """Receives a tensor from a rank."""
        return self._gloo.recv(*arguments)

    def recv_anysource(self, *arguments):
        """Receives a tensor from any rank."""
        return self._gloo.recv_anysource(*arguments)

    def monitored_barrier(self, *arguments, **named):
        """Reports the ranks that do not arrive."""
        return self._gloo.monitored_barrier(*arguments, **named)


def _with_operator(opts, of_class):
    """Returns options; callers may also pass a ReduceOp or nothing."""
    if opts is None or isinstance(opts, (dist.ReduceOp, type(dist.ReduceOp.SUM))):
        made = of_class()
        if opts is not None:
            made.reduceOp = opts
        return made
    return opts
