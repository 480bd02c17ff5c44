"""How programs get from one host to another: a login's environment, `rsh`, and the launchers' settings."""

import shlex

from .paths import PIDS, RSH

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def login_environment(environment):
    """The environment of a fresh login on a host: of the caller's, only the user and the home folder."""
    home = environment.get("HOME", "/")
    user = environment.get("USER") or environment.get("LOGNAME") or "root"
    return {"HOME": home, "USER": user, "LOGNAME": user, "SHELL": "/bin/sh", "PATH": PATH, "LANG": "C.UTF-8"}


def rsh_script(environment):
    """`rsh [ssh's options] HOST COMMAND…`, which launchers use in place of ssh.

    Like ssh it starts in the home folder with a fresh environment: what a launcher forgets to pass on is
    missing on the other hosts, as it would be on real ones.
    """
    fresh = " ".join(shlex.quote(f"{key}={value}") for key, value in login_environment(environment).items())
    return f"""#!/bin/sh
while :; do
    case "${{1:-}}" in
        -[bcDEeFIiJLlmOopQRSWw]) shift 2 ;;
        -*) shift ;;
        *) break ;;
    esac
done
host=${{1#*@}}
shift
if ! read -r pid 2>/dev/null <"{PIDS}/$host" || ! [ -e "/proc/$pid" ]; then
    echo "rsh: there is no host $host (any more)" >&2
    exit 255
fi
exec nsenter --target "$pid" --mount --net --uts --ipc -- env -i {fresh} sh -c 'cd; exec sh -c "$1"' rsh "$*"
"""


def launch_environment():
    """Settings for Open MPI's, MPICH's and Intel MPI's launchers.

    They reach hosts through rsh. They cannot know that all hosts share the same cores, so binding is off, and
    waiting processes yield instead of spinning.
    """
    return {
        "OMPI_MCA_plm_rsh_agent": RSH,
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_plm_ssh_agent": RSH,
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": RSH,
        "HYDRA_IFACE": "eth0",
        "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
        "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
        "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",
        "MPIR_CVAR_POSIX_POLL_FREQUENCY": "1",
        "I_MPI_HYDRA_BOOTSTRAP": "ssh",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC": RSH,
        "I_MPI_PIN": "0",
        "I_MPI_THREAD_YIELD": "2",
    }
