#!/bin/sh
# Runs the launcher of the same name that is further down on PATH, its ranks under evenkeel.
#
# install.sh copies this file to DIRECTORY/bin/mpirun and DIRECTORY/bin/mpiexec. If evenkeel cannot tell which
# MPI library the ranks use, or has no shim for it, it says so and the line runs as it is.
name=$(basename "$0")
bin=$(cd "$(dirname "$0")" && pwd)
setting() { sed -n "s/^$1=//p" "$bin/../settings"; }

# PATH without this directory, so that the line does not call this script again.
path=$(printf '%s' "$PATH" | tr : '\n' | grep -Fxv "$bin" | tr '\n' :)
PATH=${path%:}
export PATH
real=$(command -v "$name") || {
    echo "evenkeel: there is no other $name on PATH; install the MPI library whose launcher this is." >&2
    exit 127
}

# A line of `evenkeel run`, or one into which `evenkeel env` was inserted, has its shim already.
case "$*" in
*libevenkeel-*) exec "$real" "$@" ;;
esac

# Options are words without spaces.
mpi=$(setting mpi)
# shellcheck disable=SC2046,SC2086
set_up=$("$bin/evenkeel" env ${mpi:+--mpi "$mpi"} --format shell $(setting options) \
    $([ -n "$mpi" ] || setting python)) || {
    echo "evenkeel: this line runs without evenkeel: $name $*" >&2
    exec "$real" "$@"
}
eval "$set_up"

# Kernels that schedule each session as one unit, as those of GitHub's machines do, make MPICH's ranks slow:
# in the launcher, and not in the ranks, a library keeps them in one session. `-genv` gives the ranks theirs.
sessions=$(dirname "${LD_PRELOAD##*:}")/evenkeel-one-session.so
case "$LD_PRELOAD" in
*libevenkeel-mpich*.so)
    shim=$LD_PRELOAD
    if [ -e "$sessions" ]; then
        LD_PRELOAD=$sessions exec "$real" -genv LD_PRELOAD "$shim" "$@"
    fi
    ;;
esac
exec "$real" "$@"
