"""Where a rig's hosts find its files: in one folder that is the same on all of them."""

RIG = "/tmp/rig"  # every other file in /tmp is a host's own
PIDS = f"{RIG}/pids"
HOSTS_FILE = f"{RIG}/hosts"
RSH = f"{RIG}/rsh"
SLURM = f"{RIG}/slurm"
