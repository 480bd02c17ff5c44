#!/bin/sh
# Installs what building, testing, … needs and Debian 12 does not have. Prints nothing if nothing is missing.
#
#   tools/install-deps.sh [build] [test] [demo] [bench] [nodes] [lint] [browser] [wheel] [wheel-aarch64] [deb]
#                         [rpm] [container]
#
# build is always included.
#
# Debian packages are installed as root or with sudo; without either, the script names the missing packages
# and fails. Wheels of the Python package index go into virtual environments under build/. Nothing else is
# changed.
set -eu
cd "$(dirname "$0")/.."

say() { echo "evenkeel: $*" >&2; }
die() { say "$*"; exit 1; }

scopes="build $*"
wants() { case " $scopes " in *" $1 "*) true ;; *) false ;; esac; }

# --- Debian packages ---

packages="gcc libc6-dev ca-certificates python3 python3-venv openmpi-bin libopenmpi-dev mpich libmpich-dev"
if wants test; then packages="$packages gfortran g++ procps tmux eztrace otf2-tools libucx-dev valgrind"; fi
if wants bench; then packages="$packages libsimgrid-dev ucx-utils"; fi
# OpenSM, ibsim (a simulated network for it) and ibdmchk (checks its tables). On a machine with an InfiniBand
# port Debian's opensm would start a subnet manager as soon as it is installed: there the user decides, and
# the tests that need it are skipped with a reason.
if { wants test || wants bench; } && [ -z "$(ls /sys/class/infiniband 2>/dev/null)" ]; then
    packages="$packages opensm ibsim-utils infiniband-diags ibutils"
fi
if wants demo; then packages="$packages hpcc"; fi
if wants browser; then packages="$packages chromium chromium-driver"; fi
if wants wheel; then packages="$packages binutils debootstrap"; fi
if wants wheel-aarch64; then
    packages="$packages binutils-aarch64-linux-gnu libgcc-s1-arm64-cross libc6-arm64-cross qemu-user-static"
    packages="$packages cargo-web rustc-web libstd-rust-web-dev:arm64"
fi
if wants deb; then packages="$packages dpkg-dev debhelper fakeroot lintian debootstrap"; fi
if wants container; then packages="$packages buildah debootstrap"; fi
if wants rpm; then packages="$packages rpm rpmlint"; fi
if wants nodes; then
    packages="$packages iproute2 nftables munge slurmctld slurmd slurm-client slurm-wlm-basic-plugins"
fi

# These tools may also come from rustup, nodesource and so on: a package is needed only if there is no tool.
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
    say "this is not Debian (there is no dpkg), so nothing was installed."
    die "Install the equivalents of these packages, then try again with EVENKEEL_DEPS=none: $packages"
fi
lacking=$(missing)
if [ -n "$lacking" ]; then
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        say "Debian packages are missing, and installing them needs root or sudo."
        case "$lacking" in
            *:arm64*) say "First, as root: dpkg --add-architecture arm64 && apt-get update" ;;
        esac
        die "As root, run: apt-get install --no-install-recommends $lacking"
    fi
    case "$lacking" in *:arm64*) as_root dpkg --add-architecture arm64 ;; esac
    say "installing Debian packages: $lacking"
    as_root apt-get -q -o DPkg::Lock::Timeout=300 update >&2 ||
        say "apt-get update failed; going on with the present package lists"
    # shellcheck disable=SC2086  # one word per package
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
        install --no-install-recommends $lacking >&2 ||
        die "apt-get could not install these packages: $lacking. Its messages are above."
fi
tools/cargo.sh --check ||
    die "found no cargo of version 1.88 or later. Debian 12 has one among its security updates; remove" \
        "an old one from PATH, or set CARGO=/path/to/cargo."

# --- Python wheels ---

# Debian's interpreter, for which python3-venv was installed. Another one on PATH may lack ensurepip.
python=/usr/bin/python3

# venv NAME: installs tools/requirements/NAME.txt into build/venv-NAME. A copy of the file in that directory
# marks the installation as complete.
venv() {
    directory=build/venv-$1
    wanted=tools/requirements/$1.txt
    if cmp -s "$wanted" "$directory/installed.txt"; then return; fi
    say "installing wheels into $directory: $(tr '\n' ' ' <"$wanted")"
    rm -rf "$directory"
    mkdir -p build
    "$python" -m venv "$directory"
    "$directory/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
        -r "$wanted" >&2 || die "pip could not install the wheels of $wanted. Its messages are above."
    cp "$wanted" "$directory/installed.txt"
}

venv mpich5
venv openmpi5
if wants test || wants bench; then venv tools; fi
if wants lint; then venv lint; fi
if wants wheel; then venv wheel; fi
if wants browser; then venv browser; fi
if wants test; then
    # mpi4py's wheel works with Debian's MPICH too, but looks for libmpi.so.12, MPICH's name outside Debian.
    venv debian
    ln -sf "$(gcc -print-file-name=libmpich.so.12)" build/venv-debian/lib/libmpi.so.12
fi
# Intel MPI; its wheels exist for x86-64 only.
if { wants bench || wants test; } && [ "$(uname -m)" = x86_64 ]; then venv impi; fi

# --- mdBook ---

# Debian has no package of it. What was compiled is kept in build/mdbook. With optimisations it would take
# longer to compile, and save a second.
mdbook=0.5.4
if wants browser && [ "$(build/mdbook/bin/mdbook --version 2>/dev/null)" != "mdbook v$mdbook" ]; then
    say "compiling mdbook $mdbook into build/mdbook"
    tools/cargo.sh install mdbook --quiet --locked --debug --version "$mdbook" --no-default-features \
        --features search --target-dir build/target-mdbook --root build/mdbook >&2 ||
        die "cargo could not install mdbook $mdbook. Its messages are above."
    rm -rf build/target-mdbook
fi
