"""What stands in the way of a rig, and what to do about it."""

import shutil

# Program, and the Debian package that has it.
TOOLS = {
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "ip": "iproute2",
    "tc": "iproute2",
    "nft": "nftables",
}
WHERE = "/usr/sbin:/sbin:/usr/bin:/bin"

NAMESPACES = (
    "What to do: run it as root; or let users have namespaces (sysctl kernel.unprivileged_userns_clone=1 on Debian, "
    "kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu); in a container, start that with --privileged, or with "
    "--cap-add SYS_ADMIN --cap-add NET_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined."
)


class Refusal(Exception):
    """A rig, or a part of one, cannot be had here: what, why, and what to do, in one text."""


def find(tool):
    """Path of a program, also of those that only root has on its PATH."""
    return shutil.which(tool) or shutil.which(tool, path=WHERE)


def missing_tools(tools=TOOLS):
    """A sentence about programs that are not installed, or ''."""
    lacking = [tool for tool in tools if not find(tool)]
    if not lacking:
        return ""
    packages = " ".join(sorted({tools[tool] for tool in lacking}))
    return f"virtual hosts need {', '.join(lacking)}. What to do: apt-get install --no-install-recommends {packages}"


def namespaces(words):
    """The refusal of a kernel or container that does not allow namespaces, with its own words."""
    return Refusal(
        f"virtual hosts cannot be made here: {words.strip() or 'unshare failed without a word'}. {NAMESPACES}"
    )
