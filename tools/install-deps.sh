#!/bin/sh
# Installs what a bare Debian 12 lacks. Says nothing and takes no time when all is there.
#
#   tools/install-deps.sh [build] [test] [demo] [bench] [nodes] [lint]        (build is always included)
#
# Sources: Debian packages, wheels of the Python package index. Without root it asks sudo; without that, it says
# what is missing. Wheels go into virtual environments under build/, nothing else outside Debian packages is touched.
set -eu
cd "$(dirname "$0")/.."

say() { echo "evenkeel: $*" >&2; }
die() { say "$*"; exit 1; }

scopes="build $*"
wants() { case " $scopes " in *" $1 "*) true ;; *) false ;; esac; }

# --- Debian packages ------------------------------------------------------------------------------------------

packages="gcc libc6-dev ca-certificates python3 python3-venv openmpi-bin libopenmpi-dev mpich libmpich-dev"
if wants test; then packages="$packages gfortran g++ procps eztrace otf2-tools"; fi
if wants bench; then packages="$packages libsimgrid-dev ucx-utils"; fi
# OpenSM, a network for it that is not there, and a second judge of its tables. Debian's opensm starts a subnet manager where there is an InfiniBand port, which
# nobody wants of a test: there it is left to the user, and the tests that need it say that they were skipped.
if { wants test || wants bench; } && [ -z "$(ls /sys/class/infiniband 2>/dev/null)" ]; then packages="$packages opensm ibsim-utils infiniband-diags ibutils"; fi
if wants demo; then packages="$packages hpcc"; fi
if wants test; then packages="$packages libucx-dev"; fi
if wants nodes; then packages="$packages iproute2 nftables munge slurmctld slurmd slurm-client slurm-wlm-basic-plugins"; fi

# Tools that also come from elsewhere (rustup, nodesource, …) count when they are there, wherever they are from.
tools/cargo.sh --check || packages="$packages cargo-web rustc-web"
if wants lint; then
    tools/cargo.sh fmt --version >/dev/null 2>&1 || packages="$packages rustfmt-web"
    tools/cargo.sh clippy --version >/dev/null 2>&1 || packages="$packages rust-web-clippy"
fi
if wants test || wants lint; then
    node_major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
    [ "${node_major:-0}" -ge 18 ] || packages="$packages nodejs"
    command -v npm >/dev/null || packages="$packages npm"
fi

missing() {
    for package in $packages; do
        case "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" in
            "install ok installed") ;;
            *) printf '%s ' "$package" ;;
        esac
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -- "$@"; fi
}

if ! command -v dpkg-query >/dev/null; then
    die "this is not Debian (there is no dpkg), so nothing was installed. Install the equivalents of these Debian packages, then run the command again with EVENKEEL_DEPS=none: $packages"
fi
lacking=$(missing)
if [ -n "$lacking" ]; then
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        die "these Debian packages are missing, and neither root nor sudo is at hand to install them: $lacking. Let root run: apt-get install --no-install-recommends $lacking"
    fi
    say "installing Debian packages: $lacking"
    as_root apt-get -q -o DPkg::Lock::Timeout=300 update >&2 ||
        say "apt-get update failed; trying with the package lists that are there"
    # shellcheck disable=SC2086  # one word per package
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
        install --no-install-recommends $lacking >&2 ||
        die "apt-get could not install these packages: $lacking. Its own words are above."
fi
tools/cargo.sh --check ||
    die "there is no cargo of version 1.85 or later. Remove the old one from PATH, or say where the new one is: CARGO=/path/to/cargo."

# --- Python wheels --------------------------------------------------------------------------------------------

# The interpreter that python3-venv belongs to; one found along PATH may have no ensurepip.
python=/usr/bin/python3

# venv NAME: build/venv-NAME holds tools/requirements/NAME.txt; a copy of that file in it tells that it is complete.
venv() {
    directory=build/venv-$1
    wanted=tools/requirements/$1.txt
    if cmp -s "$wanted" "$directory/installed.txt"; then return; fi
    say "installing wheels into $directory: $(tr '\n' ' ' <"$wanted")"
    rm -rf "$directory"
    mkdir -p build
    "$python" -m venv "$directory"
    "$directory/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: -r "$wanted" >&2 ||
        die "pip could not install the wheels of $wanted. Its own words are above."
    cp "$wanted" "$directory/installed.txt"
}

venv mpich5
venv openmpi5
if wants test || wants bench; then venv tools; fi
if wants lint; then venv lint; fi
if wants test; then
    # mpi4py's wheel fits Debian's libraries too, but asks for MPICH by the name that its makers give it.
    venv debian
    ln -sf "$(gcc -print-file-name=libmpich.so.12)" build/venv-debian/lib/libmpi.so.12
fi
# One more library to be measured against; its wheels are there for x86-64 alone.
if wants bench && [ "$(uname -m)" = x86_64 ]; then venv impi; fi
