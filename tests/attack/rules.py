"""Takes one rule of the gate away at a time, and shows after how many rounds attack.c notices.

    build/venv-tools/bin/python tests/attack/rules.py --out tests/attack/rules.csv

Needs a build (`make build`) and Open MPI 4. Each rule is an edit of the shim's source in a copy; the shim is
compiled from the copy, and the attack runs until it makes impossible observations or does not end. A rule
that is not missed is not needed, or the attack does not look: the exit code is 1.

The rules of the engine (messages, collectives, communicators) are left out one at a time by its own tests,
`ordering`, `stamps` and `matching`. That faults complete is tested by programs/program_code.c, in which
ranks die.
"""

import argparse
import csv
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tqdm import tqdm

import mpis
from attack_runs import run_attack
from paths import RELEASE, ROOT

GATE = "shims/src/gate"
CAUGHT_MAPPINGS = (f"{GATE}/system_calls.c", "if (shares_pages ||", "if ((shares_pages && number < 0) ||")
COLUMNS = ["rule", "arguments", "found in round", "how"]


@dataclasses.dataclass
class Rule:
    """A rule, how it is taken away, and what the attack is told to look at."""

    name: str
    edits: list  # (file, old text, new text); the old text occurs once
    arguments: list
    ranks: int = 3
    messages: str = "own"


def let_through(call, channel):
    """Allows a system call while barriers are pending."""
    edit = (f"{GATE}/system_calls.c", "    case SYS_getpid:", f"    case SYS_{call}:\n    case SYS_getpid:")
    return Rule(f"{call} completes", [edit], [f"channels={channel}"])


LET_THROUGH = [
    ("setpriority", "nice"),
    ("getpriority", "nice"),
    ("prlimit64", "limit"),
    ("sched_setaffinity", "affinity"),
    ("sched_getaffinity", "affinity"),
    ("sched_setscheduler", "policy"),
    ("sched_getscheduler", "policy"),
    ("ioprio_set", "io-priority"),
    ("ftruncate", "file-size"),
    ("write", "stream"),
    ("semop", "semaphore"),
    ("msgsnd", "queue"),
    ("mq_timedsend", "posix-queue"),
    ("fcntl", "flags"),
    ("lseek", "offset"),
    ("pread64", "name-of-process"),
    ("fcntl", "file-lock"),
    ("rename", "file-name"),
    ("fchmod", "file-mode"),
    ("utimensat", "file-time"),
]

RULES = [
    Rule(
        "what is not on the list completes",
        [
            (
                f"{GATE}/system_calls.c",
                "    default: return false;\n    }\n}\n\nbool ek_system_call_opens",
                "    default: return true;\n    }\n}\n\nbool ek_system_call_opens",
            )
        ],
        [],
    ),
    Rule(
        "handlers make barriers strict",
        [
            (
                f"{GATE}/handler_rules.c",
                "return is_function(handler) &&",
                "return signal < 0 && is_function(handler) &&",
            )
        ],
        ["channels=signal", "signal=1"],
        ranks=2,
    ),
    Rule(
        "shared mappings make barriers strict",
        [
            (
                f"{GATE}/system_calls.h",
                "return (flags & MAP_TYPE) != MAP_PRIVATE || !(flags & MAP_ANONYMOUS);",
                "return flags < 0;",
            ),
            CAUGHT_MAPPINGS,
        ],
        ["channels=memory"],
        ranks=2,
    ),
    Rule(
        "shared mappings made by syscall() make barriers strict",
        [
            (f"{GATE}/syscall_entry.c", "if (shares && ek", "if (shares && number < 0 && ek"),
            CAUGHT_MAPPINGS,
        ],
        ["channels=memory", "way=1"],
        ranks=2,
    ),
    Rule(
        "private mappings of files make barriers strict",
        [(f"{GATE}/system_calls.h", " || !(flags & MAP_ANONYMOUS);", ";")],
        ["channels=memory", "way=2"],
        ranks=2,
    ),
    Rule(
        "threads make barriers strict",
        [
            (
                f"{GATE}/libc_calls.c",
                "static void note_thread(const void *caller, const char *how)\n{",
                "static void note_thread(const void *caller, const char *how)\n{\n    return;",
            ),
            (f"{GATE}/facts.c", "if (there <= 0 || there > allowed)", "if (there < 0)"),
        ],
        ["channels=thread"],
        ranks=2,
    ),
    Rule(
        "calls that may call the program complete",
        [(f"{GATE}/deferral.h", "if (EK_UNLIKELY(ek_process.calls_back))", "if (was > 2)")],
        ["contexts=late-truncation", "channels=file-size,file-name"],
        messages="host",
    ),
    Rule(
        "raised errors complete",
        [
            ("shims/src/process/errors.c", "    if (ek_deferred)\n", "    if (ek_deferred && code < 0)\n"),
            (f"{GATE}/deferral.h", "if (EK_UNLIKELY(ek_process.calls_back))", "if (was > 2)"),
        ],
        ["contexts=truncation", "channels=file-size,file-name"],
    ),
    Rule(
        "sends of the library complete",
        [
            (
                f"{GATE}/deferral.h",
                "        if (EK_UNLIKELY(ek_gate))              \\",
                "        if (EK_UNLIKELY(ek_gate > 2))          \\",
            )
        ],
        ["channels=message"],
        messages="host",
    ),
    *[let_through(*pair) for pair in LET_THROUGH],
]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=10_000, help="until a rule counts as not missed")
    parser.add_argument("--only", default="", help="rules whose name has this text")
    parser.add_argument("--out", type=Path, help="the CSV file to write")
    return parser.parse_args()


def build_without(rule, folder):
    """Compiles the shim for Open MPI 4 without a rule. Returns its path."""
    shutil.copytree(ROOT / "shims", folder / "shims", ignore=shutil.ignore_patterns("target"))
    shutil.copy(ROOT / "Cargo.toml", folder)
    for name, old, new in rule.edits:
        file = folder / name
        text = file.read_text()
        assert text.count(old) == 1, f"{name} has changed: adapt the rule {rule.name!r}"
        file.write_text(text.replace(old, new))
    others = ["OPENMPI5_CC", "MPICH4_CC", "MPICH5_CC", "MPIABI_INCLUDE"]
    done = subprocess.run(
        [
            folder / "shims/build-shims.sh",
            folder,
            RELEASE / "libevenkeel_mpi.a",
            RELEASE / "evenkeel-shim-generate",
        ],
        env=os.environ | {"CFLAGS": "-O0 -Wno-error"} | {f"EVENKEEL_{name}": "/nowhere" for name in others},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"without {rule.name!r} the shim cannot be compiled:\n{done.stderr}"
    return folder / "libevenkeel-openmpi4.so"


def is_about_contexts(rule):
    """Programs with error handlers of their own complete barriers in most calls.

    So they are attacked only where a rule is about such programs.
    """
    return any(argument.startswith("contexts=") for argument in rule.arguments)


def attack_without(rule, rounds):
    """Returns in which round the first impossible observation was made (None: in none), and how it ended."""
    with tempfile.TemporaryDirectory(prefix="ek-", ignore_cleanup_errors=True) as folder:
        shim = build_without(rule, Path(folder))
        outcome, _, wrong = run_attack(
            mpis.named("openmpi4"),
            rule.ranks,
            folder,
            f"rounds={rounds}",
            *(rule.arguments if is_about_contexts(rule) else ["contexts=itself", *rule.arguments]),
            preload=[shim],
            timeout=120,
            EVENKEEL_BARRIER="deferred",
            EVENKEEL_MESSAGES=rule.messages,
        )
    first = re.search(r"seed 1 round (\d+):", outcome.err)
    if first:
        return int(first[1]), "impossible observation"
    return (None, "not found") if wrong == 0 else ("", f"did not end well: exit code {outcome.code}")


def main():
    args = parse()
    rows = []
    for rule in tqdm(
        [rule for rule in RULES if args.only in rule.name], unit="rule", disable=not sys.stderr.isatty()
    ):
        found, how = attack_without(rule, args.rounds)
        rows.append([rule.name, " ".join(rule.arguments), "none" if found is None else found, how])
        print(*rows[-1], sep=", ", flush=True)
    if args.out:
        with args.out.open("w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *rows])
    return any(row[2] == "none" for row in rows)


if __name__ == "__main__":
    sys.exit(main())
