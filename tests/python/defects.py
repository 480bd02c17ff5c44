"""Python programs that break a rule of MPI, each beside a twin that keeps it: `defects.py CASE...`.

A line with a comment `finding: RULE` is where the finding must be. Cases of the rule `race` have three ranks,
others two.
"""

import contextlib
import os
import signal
import sys
import time

import numpy as np
from mpi4py import MPI

W = MPI.COMM_WORLD
rank, peer = W.rank, W.rank ^ 1
MANY = 1 << 20  # no library is done with so many elements before they are received


def ints(count=4):
    return np.zeros(count, dtype="i")


def doubles(count=4):
    return np.zeros(count, dtype="d")


def tolerant():
    """mpi4py raises an exception for what the library finds."""
    return contextlib.suppress(MPI.Exception)


def message_truncated():
    if rank == 0:
        W.Send(ints(20), 1)
    else:
        with tolerant():
            W.Recv(ints(10))  # finding: message


def message_truncated_clean():
    if rank == 0:
        W.Send(ints(20), 1)
    else:
        W.Recv(ints(21), 0)


def message_dtype():
    """numpy's own integer has 8 bytes, one of C's has 4."""
    if rank == 0:
        W.Send(np.arange(4), 1)
    else:
        W.Recv(ints(8), 0)  # finding: message


def message_dtype_clean():
    column = MPI.DOUBLE.Create_vector(4, 1, 2).Commit()
    if rank == 0:
        W.Send(np.arange(4), 1)
        W.Send([doubles(8), 1, column], 1)
    else:
        W.Recv(np.zeros(4, dtype=int), 0)
        W.Recv(doubles(4), 0)
    column.Free()


def message_pickled():
    """An object is sent as bytes, which some array receives."""
    if rank == 0:
        W.send([1, 2, 3], 1)
    else:
        W.Recv(doubles(64), 0)  # finding: message


def message_pickled_clean():
    if rank == 0:
        W.send([1, 2, 3], 1)
        W.isend({"a": 1}, 1).wait()
    else:
        assert W.recv() == [1, 2, 3]
        assert W.irecv().wait() == {"a": 1}


def unmatched_send():
    W.sendrecv(1, peer)
    if rank == 0:
        W.send(2, 1, tag=5)  # finding: unmatched


def unmatched_send_clean():
    W.sendrecv(1, peer)
    if rank == 0:
        W.send(2, 1, tag=5)
    else:
        status = MPI.Status()
        W.Probe(status=status)
        W.recv(source=status.source, tag=status.tag)


def unmatched_receive():
    if rank == 0:
        W.Irecv(ints(), 1, tag=5)  # finding: unmatched
    W.Barrier()


def unmatched_receive_clean():
    if rank == 0:
        request = W.Irecv(ints(), 1, tag=5)
        request.Cancel()
        request.Wait()
    W.Barrier()


def collective_root():
    """The library takes each root's own buffer."""
    request = W.Ibcast(ints(), rank)  # finding: collective
    request.Wait()


def collective_root_clean():
    W.Ibcast(ints(), 1).Wait()
    W.bcast([1], 1)


def collective_operator():
    if rank == 0:
        W.Allreduce(doubles(), doubles(), MPI.SUM)
    else:
        W.Allreduce(doubles(), doubles(), MPI.MAX)  # finding: collective


def collective_operator_clean():
    W.Allreduce(doubles(), doubles(), MPI.MAX)
    assert W.allreduce([rank]) == [0, 1]  # an operator of mpi4py's
    own = MPI.Op.Create(lambda a, b, t: None)
    W.Allreduce(ints(), ints(), own)
    own.Free()


def collective_objects():
    """Functions in lower case send the length of the object first."""
    signal.alarm(1)
    if rank == 0:
        W.bcast([1, 2, 3], 0)
    else:
        with tolerant():
            W.Bcast(doubles(), 0)  # finding: collective
    os._exit(1)


def collective_objects_clean():
    W.bcast([1, 2, 3] if rank == 0 else None, 0)
    W.Bcast(doubles(), 0)
    W.gather("a" * rank, 1)
    W.allgather(rank)
    W.scatter([1, "b"] if rank == 0 else None, 0)
    W.alltoall([1, 2])


def overlap_receives():
    if rank == 0:
        W.Send(ints(), 1, tag=1)
        W.Send(ints(), 1, tag=2)
    else:
        x = ints(8)
        first = W.Irecv(x[:4], 0, tag=1)
        second = W.Irecv(x[3:7], 0, tag=2)  # finding: overlap
        MPI.Request.Waitall([first, second])


def overlap_receives_clean():
    if rank == 0:
        W.Send(ints(), 1, tag=1)
        W.Send(ints(), 1, tag=2)
    else:
        x = ints(8)
        MPI.Request.Waitall([W.Irecv(x[:4], 0, tag=1), W.Irecv(x[4:], 0, tag=2)])


def overlap_aliased():
    x = ints(8)
    with tolerant():
        W.Allreduce(x[:4], x[2:6])  # finding: overlap


def overlap_aliased_clean():
    x = ints(8)
    W.Allreduce(x[:4], x[4:])
    W.Allreduce(MPI.IN_PLACE, x)


def receive_large(request):
    W.Barrier()
    if rank == 0:
        request.Wait()
    else:
        W.Recv(ints(MANY), 0)


def modified_array():
    x = ints(MANY)
    request = None
    if rank == 0:
        request = W.Isend(x, 1)  # finding: modified
        x += 1
    receive_large(request)


def modified_array_clean():
    x = ints(MANY)
    request = W.Isend(x, 1) if rank == 0 else None
    receive_large(request)
    x += 1


def modified_bytes():
    """An object that was sent may be changed: it is pickled. A buffer of one's own may not."""
    text = bytearray(b"abc" * 100)
    if rank == 0:
        request = W.Issend(text, 1)  # finding: modified
        text[0] = 100
    W.Barrier()
    if rank == 0:
        request.Wait()
    else:
        W.Recv(bytearray(300), 0)


def modified_bytes_clean():
    things = [1, 2, 3]
    if rank == 0:
        request = W.issend(things, 1)
        things.append(4)
    W.Barrier()
    if rank == 0:
        request.wait()
    else:
        W.recv()


def leak_request():
    if rank == 0:
        W.isend(1, 1)  # finding: leak
    else:
        W.recv()


def leak_request_clean():
    if rank == 0:
        MPI.Request.Waitall([W.isend(1, 1)])
    else:
        W.recv()


def leak_objects():
    W.Dup()  # finding: leak
    MPI.INT.Create_contiguous(2)  # finding: leak
    W.Get_group()  # finding: leak
    W.Send_init(ints(), peer)  # finding: leak


def leak_objects_clean():
    for made in (W.Dup(), MPI.INT.Create_contiguous(2), W.Get_group(), W.Send_init(ints(), peer)):
        made.Free()
    copy = W.Dup()
    copy.allreduce([1])  # mpi4py keeps a communicator in an attribute, and frees it in a callback
    copy.Free()


def handle_uncommitted():
    pair = MPI.INT.Create_contiguous(2)
    with tolerant():
        MPI.COMM_SELF.Bcast([ints(), 1, pair])  # finding: handle
    pair.Free()


def handle_uncommitted_clean():
    pair = MPI.INT.Create_contiguous(2).Commit()
    MPI.COMM_SELF.Bcast([ints(), 1, pair])
    pair.Free()


def handle_copied():
    """mpi4py sets the handle of a request that is complete to null, but not that of a copy."""
    signal.alarm(1)
    request = W.Irecv(ints(), peer)
    copy = MPI.Request.fromhandle(request.handle)
    W.Send(ints(), peer)
    request.Wait()
    if rank == 0:
        with tolerant():
            copy.Wait()  # finding: handle
        os._exit(1)


def handle_copied_clean():
    request = W.Irecv(ints(), peer)
    W.Send(ints(), peer)
    request.Wait()
    request.Wait()


def deadlock_receives():
    signal.alarm(1)
    W.recv(source=peer)  # finding: deadlock
    W.send(1, peer)


def deadlock_receives_clean():
    if rank == 0:
        W.send(1, peer)
    W.recv(source=peer)
    if rank == 1:
        W.send(1, peer)


def deadlock_collective():
    signal.alarm(1)
    if rank == 0:
        W.Barrier()  # finding: deadlock
        W.Send(ints(), 1)
    else:
        W.Recv(ints(), 0)
        W.Barrier()


def deadlock_collective_clean():
    if rank == 0:
        W.Send(ints(), 1)
    else:
        W.Recv(ints(), 0)
    W.Barrier()


def buffering_sends():
    W.send(1, peer)  # finding: buffering
    W.recv(source=peer)


def buffering_sends_clean():
    W.sendrecv(1, peer, source=peer)
    request = W.isend(1, peer)
    W.recv(source=peer)
    request.wait()


def buffering_collective():
    if rank == 0:
        W.Send(ints(), 1)  # finding: buffering
    W.allreduce(1)
    if rank == 1:
        W.Recv(ints(), 0)


def buffering_collective_clean():
    if rank == 0:
        W.Send(ints(), 1)
    else:
        W.Recv(ints(), 0)
    W.allreduce(1)


def race_receives():
    """Three ranks. mpi4py probes for an object, and receives what it has found."""
    if rank != 0:
        W.send(rank, 0)
        return
    for _ in range(2):
        W.recv()  # finding: race


def race_receives_clean():
    if rank != 0:
        W.send(rank, 0)
        return
    for source in (1, 2):
        W.recv(source=source)


def race_posted():
    if rank != 0:
        W.Send(ints(), 0)
        return
    first = W.Irecv(ints())  # finding: race
    MPI.Request.Waitall([first, W.Irecv(ints())])


def race_posted_clean():
    if rank != 0:
        W.Send(ints(), 0, tag=rank)
        return
    MPI.Request.Waitall([W.Irecv(ints(), tag=1), W.Irecv(ints(), tag=2)])


def race_unordered(is_ordered=False):
    if rank == 0:
        W.recv()  # finding: race
        if is_ordered:
            W.send("go on", 2)
        W.recv(source=2)
    elif rank == 1:
        W.send(1, 0)
    else:
        if is_ordered:
            W.recv(source=0)
        else:
            time.sleep(0.2)
        W.send(2, 0)


def race_unordered_clean():
    """The answer of rank 0 orders the messages."""
    race_unordered(is_ordered=True)


for case in sys.argv[1:]:
    globals()[case]()
    if case != sys.argv[-1]:
        W.Barrier()
