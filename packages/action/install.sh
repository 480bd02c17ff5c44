#!/bin/sh
# Installs evenkeel into a directory, and makes `mpirun` and `mpiexec` lines run under it.
#
#   packages/action/install.sh DIRECTORY
#
# The settings are the variables EVENKEEL_ACTION_VERSION, _WHEEL, _PYTHON, _MPI and _OPTIONS, which
# action.yml explains. Programs go to DIRECTORY/bin: `evenkeel`, and launchers that call those further down
# on PATH. Within a GitHub action that directory is put on PATH for later steps; elsewhere the last line of
# output says how.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
directory=${1:?"usage: install.sh DIRECTORY"}
mkdir -p "$directory/bin"
directory=$(cd "$directory" && pwd)

python3 -m venv "$directory/venv" || {
    echo "evenkeel: python3 cannot make a virtual environment: install python3-venv or the like." >&2
    exit 1
}
wanted=${EVENKEEL_ACTION_WHEEL:-evenkeel${EVENKEEL_ACTION_VERSION:+==$EVENKEEL_ACTION_VERSION}}
"$directory/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wanted" || {
    echo "evenkeel: pip could not install $wanted; its messages are above." >&2
    exit 1
}
# A link, and not the environment's directory: its python must not hide the one of the tests.
ln -sf "$directory/venv/bin/evenkeel" "$directory/bin/evenkeel"

# Each setting as a word of its own in a file, which the launchers read.
{
    printf 'python=%s\n' "${EVENKEEL_ACTION_PYTHON:-python3}"
    printf 'mpi=%s\n' "${EVENKEEL_ACTION_MPI:-}"
    printf 'options=%s\n' "${EVENKEEL_ACTION_OPTIONS:-}"
} >"$directory/settings"
for name in mpirun mpiexec; do
    cp "$here/launcher.sh" "$directory/bin/$name"
    chmod 755 "$directory/bin/$name"
done

if [ -n "${GITHUB_PATH:-}" ]; then
    echo "$directory/bin" >>"$GITHUB_PATH"
    echo "program=$directory/bin/evenkeel" >>"$GITHUB_OUTPUT"
fi
"$directory/bin/evenkeel" --version
echo "evenkeel: mpirun and mpiexec run under evenkeel with: export PATH=\"$directory/bin:\$PATH\""
