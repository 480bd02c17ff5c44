"""What a rig needs of the machine, and the error that says what is missing and what to do about it."""

import shutil

# Program, and the Debian package that has it.
TOOLS = {
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "ip": "iproute2",
    "tc": "iproute2",
    "nft": "nftables",
}
SYSTEM_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"

NAMESPACES = (
    "What to do: run it as root; or let users have namespaces "
    "(sysctl kernel.unprivileged_userns_clone=1 on Debian, "
    "kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu); in a container, start that with "
    "--privileged, or with --cap-add SYS_ADMIN --cap-add NET_ADMIN --security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined."
)


class RigUnavailableError(Exception):
    """A rig, or a part of one, cannot be had on this machine. The text says what, why, and what to do."""


def find(tool):
    """The path of a program, also of those that only root has on its PATH."""
    return shutil.which(tool) or shutil.which(tool, path=SYSTEM_PATH)


def require(tools=TOOLS):
    """Raises an error that names the programs that are not installed, if any."""
    lacking = [tool for tool in tools if not find(tool)]
    if lacking:
        packages = " ".join(sorted({tools[tool] for tool in lacking}))
        raise RigUnavailableError(
            f"virtual hosts need {', '.join(lacking)}. "
            f"What to do: apt-get install --no-install-recommends {packages}"
        )


def no_namespaces(words):
    """The error about a kernel or container that does not allow namespaces, with its own words."""
    reason = words.strip() or "unshare failed without a message"
    return RigUnavailableError(f"virtual hosts cannot be made here: {reason}. {NAMESPACES}")
