"""What PyTorch's Join over Gloo costs: the peer of `tpbench join`.

Prints a line per measurement, a JSON object: "what", "ranks", "seconds" per iteration, the slowest
rank's. Ranks are forked processes on the CPUs that this one may use; unbound, since Gloo works in
threads of its own. They meet through a TCP store, so that no file is left behind, and die with this
process.

Started by tpbench: python3 torch_join_peer.py 400 (iterations of small things with 2 ranks)
"""

import ctypes
import json
import os
import signal
import sys
import time
from datetime import timedelta

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is loaded
os.environ["GLOO_SOCKET_IFNAME"] = "lo"

import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join, Joinable, JoinHook
from torch.nn.parallel import DistributedDataParallel

TIMEOUT = timedelta(seconds=60)
PR_SET_PDEATHSIG = 1
# As large as in tpbench's own training loop. The arithmetic differs, so what compares is how much
# Join adds.
TENSORS, TENSOR_SIZE, LEARNING_RATE = 4, 25000, 1e-4


class ShadowHook(JoinHook):
    def __init__(self, shadow):
        self.shadow = shadow

    def main_hook(self):
        self.shadow()


class Reducer(Joinable):
    """One all_reduce of 8 bytes per use, shadowed by those that have joined."""

    def __init__(self):
        super().__init__()
        self.values = torch.zeros(2)

    def join_hook(self, **kwargs):
        return ShadowHook(self.reduce)

    @property
    def join_device(self):
        return torch.device("cpu")

    @property
    def join_process_group(self):
        return dist.group.WORLD

    def reduce(self):
        dist.all_reduce(self.values.fill_(1))

    def notify(self):
        # Gloo performs operations in turn: whatever the iteration reduces waits for this one, too.
        work = Join.notify_join_context(self)
        if work is not None:
            work.wait()

    def use(self):
        self.notify()
        self.reduce()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        tensors = [torch.nn.Parameter(torch.ones(TENSOR_SIZE)) for _ in range(TENSORS)]
        self.tensors = torch.nn.ParameterList(tensors)

    def forward(self):
        return sum((tensor * tensor).sum() for tensor in self.tensors)


def seconds_of(joinable, one, iterations, warm_ups=0, **options):
    """Seconds per iteration in a context, without its end."""
    dist.barrier()
    with Join([joinable], **options):
        for _ in range(warm_ups):
            one()
        begin = time.perf_counter()
        for _ in range(iterations):
            one()
        seconds = time.perf_counter() - begin
    return seconds / max(1, iterations)


def tell(what, seconds):
    slowest = torch.tensor([seconds], dtype=torch.float64)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    if dist.get_rank() == 0:
        result = {"what": what, "ranks": dist.get_world_size(), "seconds": slowest.item()}
        print(json.dumps(result), flush=True)


def measure_notifications(iterations):
    reducer = Reducer()
    tell("notify", seconds_of(reducer, reducer.notify, iterations, warm_ups=2))
    if dist.get_world_size() > 4:
        return
    throws = {"warm_ups": 2, "throw_on_early_termination": True}
    tell("throw", seconds_of(reducer, reducer.notify, iterations, **throws))
    # The last rank joins at once, and shadows what the others do.
    is_last = dist.get_rank() == dist.get_world_size() - 1
    seconds = seconds_of(reducer, reducer.use, 0 if is_last else iterations)
    tell("shadow", 0 if is_last else seconds)


def measure_training(iterations):
    model = DistributedDataParallel(Model())
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)

    def train():
        optimizer.zero_grad()
        model().backward()
        optimizer.step()

    seconds_of(model, train, 2, enable=False)
    tell("off", seconds_of(model, train, iterations, enable=False))
    tell("on", seconds_of(model, train, iterations))
    is_whole = dist.get_rank() == 0
    seconds = seconds_of(model, train, iterations if is_whole else (iterations + 1) // 2)
    tell("uneven", seconds if is_whole else 0)


def run_rank(rank, ranks, port, iterations):
    torch.set_num_threads(1)
    store = dist.TCPStore("127.0.0.1", port, is_master=False, timeout=TIMEOUT)
    store = dist.PrefixStore(str(ranks), store)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks, timeout=TIMEOUT)
    measure_notifications(max(2, iterations * 2 // ranks))
    if ranks == 2:
        measure_training(max(2, iterations // 4))
    dist.barrier()
    dist.destroy_process_group()


def fork_rank(rank, ranks, port, iterations):
    parent = os.getpid()
    child = os.fork()
    if child != 0:
        return child
    code = 1
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == parent:
            run_rank(rank, ranks, port, iterations)
            code = 0
    except BaseException as error:  # told here; nothing of the parent's may run in the child
        print(f"rank {rank} of {ranks}: {error}", file=sys.stderr, flush=True)
    os._exit(code)


def main():
    iterations = int(sys.argv[1])
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=TIMEOUT)
    for ranks in (2, 4, 8):
        children = [fork_rank(rank, ranks, store.port, iterations) for rank in range(ranks)]
        for _ in children:
            _, status = os.wait()
            if status != 0:
                sys.exit(1)  # the others die with this process


main()
