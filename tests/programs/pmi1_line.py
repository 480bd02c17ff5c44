"""Asks the server of PMI-1 whether it takes lines of more than 1024 bytes. No MPI takes part.

Puts one line of each length in the arguments, and prints the answers. Run by `srun --mpi=pmi2 -n1`.
"""

import os
import socket
import sys

server = socket.socket(fileno=int(os.environ["PMI_FD"]))
server.settimeout(5)


def ask(line):
    server.sendall(line.encode() + b"\n")
    return server.recv(4096).decode().strip()


ask("cmd=init pmi_version=1 pmi_subversion=1")
for length in map(int, sys.argv[1:]):
    line = f"cmd=put kvsname=x key=k{length} value="
    print(length, ask(line + "v" * (length - 1 - len(line))), flush=True)
