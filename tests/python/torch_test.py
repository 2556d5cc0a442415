# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests of the back end "huddle" of torch.distributed: results against local computation, training against Gloo."""
import copy
import datetime
import os
import warnings
from unittest import mock

import pytest
import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook
from torch.nn.parallel import DistributedDataParallel
from torch_ranks import run

import huddle

try:
    from torch.distributed import fsdp
except (ImportError, ValueError):  # Python 3.11 cannot import that of PyTorch 1.13
    fsdp = None

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]
TYPES = FLOATS + INTEGERS + [torch.bool]
Op = dist.ReduceOp
COUNTS = (1, 5, 4000)


def values(rank, count, dtype):
    """Small whole numbers, so that every order of a sum or a product has the same exact result."""
    return ((torch.arange(count) * 7 + rank * 3) % 4).to(dtype)


def reduced(op, inputs):
    stacked = torch.stack([given.to(torch.float64) for given in inputs])
    dtype = inputs[0].dtype
    if op == Op.SUM:
        return stacked.sum(0).to(dtype)
    if op == Op.AVG:
        return stacked.mean(0).to(dtype)
    if op == Op.PRODUCT:
        return stacked.prod(0).to(dtype)
    return (stacked.min(0) if op == Op.MIN else stacked.max(0)).values.to(dtype)


def cases():
    """Yields an operator and the inputs of all ranks."""
    for dtype in TYPES:
        for op in (Op.SUM, Op.PRODUCT, Op.MIN, Op.MAX) + ((Op.AVG,) if dtype in FLOATS else ()):
            for count in COUNTS:
                yield op, [values(rank, count, dtype) for rank in range(dist.get_world_size())]


def same(result, wanted):
    assert result.dtype == wanted.dtype and torch.equal(result, wanted), f"{result} instead of {wanted}"


def reductions():
    assert dist.group.WORLD.uses_huddle()
    rank, size = dist.get_rank(), dist.get_world_size()
    for op, inputs in cases():
        total = reduced(op, inputs)
        data = inputs[rank].clone()
        dist.all_reduce(data, op)
        same(data, total)
        data = inputs[rank].clone()
        dist.reduce(data, size - 1, op)
        same(data, total if rank == size - 1 else inputs[rank])
        reduce_scatters(op, inputs)


def reduce_scatters(op, inputs):
    rank, size = dist.get_rank(), dist.get_world_size()
    # Rank r contributes inputs[(r + block) % size] to each block.
    wanted = reduced(op, [inputs[(peer + rank) % size] for peer in range(size)])
    mine = [inputs[(rank + block) % size] for block in range(size)]
    out = torch.empty_like(mine[0])
    dist.reduce_scatter(out, mine, op)
    same(out, wanted)
    function = getattr(dist, "reduce_scatter_tensor", None) or dist._reduce_scatter_base
    out = torch.empty_like(mine[0])
    function(out, torch.cat(mine), op)
    same(out, wanted)


def movements():
    rank, size = dist.get_rank(), dist.get_world_size()
    for dtype in TYPES + [torch.complex64]:
        for count in COUNTS:
            inputs = [values(peer, count, dtype) for peer in range(size)]
            gathers(inputs[rank], inputs)
            exchanges(inputs[rank], inputs)
            data = inputs[rank].clone()
            dist.broadcast(data, size - 1)
            same(data, inputs[-1])


def gathers(mine, inputs):
    rank, size = dist.get_rank(), dist.get_world_size()
    outputs = [torch.empty_like(mine) for _ in inputs]
    dist.all_gather(outputs, mine)
    for output, wanted in zip(outputs, inputs):
        same(output, wanted)
    if not mine.is_complex():
        together = torch.empty(size * len(mine), dtype=mine.dtype)
        (getattr(dist, "all_gather_into_tensor", None) or dist._all_gather_base)(together, mine)
        same(together, torch.cat(inputs))
    outputs = [torch.empty_like(mine) for _ in inputs]
    dist.gather(mine, outputs if rank == 0 else None, 0)
    assert rank != 0 or torch.equal(torch.cat(outputs), torch.cat(inputs))
    out = torch.empty_like(mine)
    dist.scatter(out, inputs if rank == 0 else None, 0)
    same(out, mine)


def exchanges(mine, inputs):
    rank, size = dist.get_rank(), dist.get_world_size()
    outputs = [torch.empty_like(mine) for _ in inputs]
    dist.all_to_all(outputs, [mine + peer if mine.dtype in FLOATS else mine for peer in range(size)])
    for output, given in zip(outputs, inputs):
        same(output, given + rank if mine.dtype in FLOATS else given)
    out = torch.empty(size * len(mine), dtype=mine.dtype)
    dist.all_to_all_single(out, torch.cat([mine] * size))
    same(out, torch.cat(inputs))
    out = torch.empty(sum(range(1, size + 1)) if rank == 0 else 0, 3)
    dist.all_to_all_single(out, torch.full((rank + 1, 3), float(rank)), [peer + 1 for peer in range(size)] if rank == 0
                           else [0] * size, [rank + 1] + [0] * (size - 1))
    assert rank != 0 or out[:, 0].tolist() == [peer for peer in range(size) for _ in range(peer + 1)]


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("function", [reductions, movements])
def test_results_are_right(function, size, tmp_path):
    run(function, tmp_path / "store", size)


def strided():
    rank = dist.get_rank()
    data = torch.full((4, 6), 1.0 + rank)
    dist.all_reduce(data[:, ::2])
    assert data[:, ::2].eq(3).all() and data[:, 1::2].eq(1 + rank).all()
    data = torch.full((4, 6), 1.0 + rank)
    dist.broadcast(data.t()[1:3], 1)
    assert data[:, 1:3].eq(2).all() and data[:, 3:].eq(1 + rank).all()


def asynchronous():
    rank = dist.get_rank()
    data = [torch.full((1000,), float(i + rank)) for i in range(100)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in data]
    for i in reversed(range(100)):
        works[i].wait()
        assert works[i].is_completed() and works[i].is_success() and data[i].eq(2 * i + 1).all()
    future = dist.all_reduce(data[0], async_op=True).get_future().then(lambda done: done.value()[0] * 2)
    assert future.wait().eq(4).all()


def future_of_sum(tensor):
    return dist.all_reduce(tensor, async_op=True).get_future()


def nested_calls():
    """Callbacks of futures call collectives and wait for them, one inside the other."""
    first, second, third = torch.ones(4), torch.ones(4), torch.ones(4)

    def inner(done):
        dist.all_reduce(third.mul_(done.value()[0][0]))
        return third

    def outer(done):
        return future_of_sum(second.mul_(done.value()[0][0])).then(inner).wait()

    assert future_of_sum(first).then(outer).wait().eq(8).all()
    # The callback waits for a call that was submitted before it runs.
    work, queued = dist.all_reduce(first, async_op=True), future_of_sum(second)
    future = work.get_future().then(lambda _: queued.wait()[0] * 2)
    assert torch.futures.collect_all([queued, future]).wait()[1].value().eq(16).all()
    # This thread runs the call, and its callbacks.
    work = dist.all_reduce(third, async_op=True)
    future = work.get_future().then(lambda _: future_of_sum(first).wait()[0])
    work.wait()
    assert future.wait().eq(8).all()


def futures():
    """A future is complete after wait(), and an exception of a callback reaches only the callback's future."""
    data = torch.ones(4)

    def fail(_):
        raise ValueError("of a callback")

    future_of_sum(torch.ones(1)).add_done_callback(fail)
    for _ in range(100):
        work = dist.all_reduce(data, Op.MAX, async_op=True)
        future = work.get_future()
        failing = future.then(fail)
        work.wait()
        assert future.done() and future.value()[0] is data
        with pytest.raises(Exception, match="of a callback"):
            failing.wait()


def starts_without_wait():
    """The other rank depends on a call that nothing waits for yet."""
    rank, data = dist.get_rank(), torch.ones(8)
    if rank == 0:
        work = dist.all_reduce(data, async_op=True)
        dist.recv(torch.empty(1), 1)
        work.wait()
    else:
        dist.all_reduce(data)
        dist.send(torch.ones(1), 0)
    assert data.eq(2).all()


def subgroups():
    rank = dist.get_rank()
    groups = [dist.new_group(ranks) for ranks in ([0, 1], [1, 2], [0, 1, 2])]
    for ranks, group in zip(([0, 1], [1, 2], [0, 1, 2]), groups):
        if rank in ranks:
            data = torch.tensor([float(rank)])
            dist.all_reduce(data, group=group)
            assert data.item() == sum(ranks)
            dist.broadcast(data.fill_(rank), ranks[-1], group=group)
            assert data.item() == ranks[-1]
    dist.barrier()
    entries = [None] * 3
    dist.all_gather_object(entries, {"rank": rank})
    assert entries == [{"rank": 0}, {"rank": 1}, {"rank": 2}]


def ended_subgroup():
    for _ in range(2):
        group = dist.new_group([0, 1])
        dist.barrier(group)
        dist.destroy_process_group(group)
    names = [getattr(group, "group_name", "") for group in (dist.group.WORLD, dist.new_group([0, 1]))]
    assert names[0] != names[1] or torch.__version__ < "2"
    dist.barrier()


def mesh():
    whole = dist.init_device_mesh("cpu", (2, 1), mesh_dim_names=("rows", "columns"))
    data = torch.ones(2)
    dist.all_reduce(data, group=whole.get_group("rows"))
    assert data.eq(2).all() and whole.get_group("rows").uses_huddle()


def sharded():
    torch.manual_seed(1)
    local = torch.nn.Linear(6, 4)
    model = copy.deepcopy(local)
    fsdp.fully_shard(model)
    given = torch.randn(2, 3, 6)
    model(given[dist.get_rank()]).square().mean().backward()
    local(given).square().mean().backward()
    torch.testing.assert_close(model.weight.grad.full_tensor(), local.weight.grad)


@pytest.mark.parametrize("function", [
    ended_subgroup,
    pytest.param(mesh, marks=pytest.mark.skipif(not hasattr(dist, "init_device_mesh"),
                                                reason="this PyTorch has no init_device_mesh")),
    pytest.param(sharded, marks=pytest.mark.skipif(not hasattr(fsdp, "fully_shard"),
                                                   reason="this PyTorch has no fully_shard"))])
def test_groups_have_names(function, tmp_path):
    run(function, tmp_path / "store")


def left_to_gloo():
    rank = dist.get_rank()
    if rank == 0:
        dist.send(torch.ones(3), 1)
    else:
        received = torch.zeros(3)
        dist.recv(received, 0)
        assert received.eq(1).all()
    sparse = torch.sparse_coo_tensor([[rank]], [1.0], (2,))
    dist.all_reduce(sparse)
    assert sparse.to_dense().tolist() == [1.0, 1.0]
    outputs = [[torch.zeros(2), torch.zeros(3)] for _ in range(2)]
    dist.all_gather_coalesced(outputs, [torch.full((2,), float(rank)), torch.full((3,), rank + 5.0)])
    assert [[tensor[0].item() for tensor in tensors] for tensors in outputs] == [[0, 5], [1, 6]]


def errors():
    with pytest.raises((RuntimeError, ValueError)):
        dist.all_gather([torch.zeros(2), torch.zeros(3)], torch.zeros(2))
    with pytest.raises((RuntimeError, ValueError)):
        dist.all_reduce(torch.zeros(2, dtype=torch.int32), Op.AVG)
    data = torch.ones(2)
    dist.all_reduce(data)
    assert data.eq(2).all()


def parameters():
    """Collectives may write to leaves that require gradients, and to inference tensors."""
    rank = dist.get_rank()
    weights = torch.nn.Parameter(torch.full((4, 2, 3, 3), rank + 1.0).to(memory_format=torch.channels_last))
    with torch.inference_mode():
        inferred = torch.full((6, 2), rank + 1.0).t()
    for tensor in (weights, inferred):
        assert not tensor.is_contiguous()
        dist.all_reduce(tensor, Op.AVG)
        assert tensor.eq(1.5).all()
        dist.all_reduce(tensor, Op.AVG, async_op=True).get_future().wait()
        assert tensor.eq(1.5).all()
        gathered = [torch.empty_like(tensor) for _ in range(2)]
        dist.all_gather(gathered, tensor)
        dist.broadcast(tensor, 1)
        assert torch.equal(torch.stack(gathered), torch.stack([tensor, tensor]))


def mismatched_exchanges():
    rank, data = dist.get_rank(), torch.full((8,), -1.0)
    for words, output, given, splits in (
            ("8 elements and the output 2", data[:2], torch.arange(8.), ()),
            ("3 elements", data[:3], torch.arange(3.), ()),
            ("add up to 3", data[:4], torch.arange(4.), ([1, 2], [2, 2])),
            ("at least 0", data[:4], torch.arange(4.), ([5, -1], [2, 2])),
            ("one split size per rank", data[:4], torch.arange(4.), ([4], [2, 2])),
            ("itself", data[:4], torch.arange(4.), ([1, 3], [3, 1]) if rank else ([3, 1], [1, 3])),
            ("itself", data[:6].view(2, 3), torch.zeros(2, 5), ([1, 1], [1, 1]))):
        with pytest.raises(RuntimeError, match=words):
            dist.all_to_all_single(output, given, *splits)
            pytest.fail(f"nothing was raised that contains: {words}")
    outputs = [data[:1], data[1:2]]
    with pytest.raises(RuntimeError, match="itself"):
        dist.all_to_all(outputs, [torch.zeros(4 if peer == rank else 1) for peer in range(2)])
    assert data.eq(-1).all()
    dist.all_to_all_single(data, torch.arange(8.))  # the group still works
    assert data.tolist() == [4.0 * rank + i for i in range(4)] * 2


def equivalent_exchanges():
    """Ranks that state split sizes exchange with ranks that do not, and an input may be the output."""
    rank = dist.get_rank()
    given, wanted = torch.arange(4.) + 10 * rank, [2.0 * rank, 2.0 * rank + 1, 2.0 * rank + 10, 2.0 * rank + 11]
    for splits in ([2, 2], None) if rank == 0 else (None, [2, 2]):
        out = torch.zeros(4)
        dist.all_to_all_single(out, given, splits, splits)
        assert out.tolist() == wanted
    out = torch.zeros(4)
    dist.all_to_all_single(out, given.view(2, 2), [2, 2], None)
    assert out.tolist() == wanted
    out = given.clone()
    dist.all_to_all_single(out if rank == 0 else torch.zeros(4), out)
    assert rank == 1 or out.tolist() == wanted
    first, second = torch.full((2,), rank + 1.0), torch.zeros(2)
    dist.all_to_all([first, second], [first, torch.full((2,), rank + 5.0)])
    assert (first.tolist(), second.tolist()) == (([1.0] * 2, [2.0] * 2) if rank == 0 else ([5.0] * 2, [6.0] * 2))


@pytest.mark.parametrize("function, size", [(strided, 2), (asynchronous, 2), (starts_without_wait, 2), (subgroups, 3),
                                            (left_to_gloo, 2), (errors, 2), (nested_calls, 2), (futures, 2),
                                            (parameters, 2), (mismatched_exchanges, 2),
                                            (equivalent_exchanges, 2)])
def test_behaves_like_gloo(function, size, tmp_path):
    run(function, tmp_path / "store", size)


def losses(group):
    """Trains a small network whose gradients fill several buckets."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 200), torch.nn.BatchNorm1d(200), torch.nn.ReLU(),
                                torch.nn.Linear(200, 200), torch.nn.ReLU(), torch.nn.Linear(200, 10))
    model = DistributedDataParallel(model, process_group=group, bucket_cap_mb=0.05)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    torch.manual_seed(10 + dist.get_rank())
    found = []
    for _ in range(15):
        samples, labels = torch.randn(32, 64), torch.randint(10, (32,))
        loss = torch.nn.functional.cross_entropy(model(samples), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def compressed_training():
    torch.manual_seed(1)
    model = DistributedDataParallel(torch.nn.Linear(200, 100, bias=False))
    model.register_comm_hook(powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=4, start_powerSGD_iter=2),
                             powerSGD_hook.powerSGD_hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    torch.manual_seed(10 + dist.get_rank())
    for _ in range(5):
        optimizer.zero_grad()
        model(torch.randn(32, 200)).square().sum().backward()
        optimizer.step()
    weights = [torch.empty(100, 200) for _ in range(2)]
    dist.all_gather(weights, model.module.weight.detach())
    assert torch.equal(*weights) and weights[0].isfinite().all()


def test_hook_that_calls_collectives_in_callbacks_trains(tmp_path):
    run(compressed_training, tmp_path / "store")


def training():
    assert losses(dist.new_group(backend="huddle")) == losses(dist.new_group(backend="gloo"))


def test_training_with_two_ranks_has_the_losses_of_gloo_bit_for_bit(tmp_path):
    run(training, tmp_path / "store")


def lost_peer():
    dist.barrier()
    if dist.get_rank() == 1:

        os._exit(0)
    with pytest.raises(RuntimeError):
        for _ in range(3):
            dist.all_reduce(torch.ones(10))


def test_lost_rank_raises(tmp_path):
    run(lost_peer, tmp_path / "store")


def late_peer():
    group = dist.new_group(timeout=datetime.timedelta(seconds=0.2))
    if dist.get_rank() == 0:
        with pytest.raises(RuntimeError, match="timed out"):
            dist.barrier(group)
    dist.barrier()


def test_late_rank_raises_after_timeout_of_group(tmp_path):
    run(late_peer, tmp_path / "store")


def without_team():
    """The failure of team creation is the same on all ranks, as for ranks of two machines."""
    def fail(*_):
        raise huddle.Error("the ranks are on different machines")

    with mock.patch("huddle.torch.process_group.Team.by_gather", fail), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        group = dist.new_group()
    assert any("different machines" in str(one.message) for one in caught) == (dist.get_rank() == 0)
    assert not group.uses_huddle()
    data = torch.ones(3)
    dist.all_reduce(data, group=group)
    dist.barrier(group)
    outputs = [torch.zeros(3), torch.zeros(3)]
    dist.all_gather(outputs, data, group=group)
    assert torch.cat(outputs).eq(2).all()


def test_ranks_that_cannot_share_memory_use_gloo(tmp_path):
    run(without_team, tmp_path / "store")
