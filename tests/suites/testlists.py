"""Reads the `testlist` files of MPICH's test suite, and judges a program as its `runtests` does.

A line is `program [ranks [key=value ...]]`, or the name of a folder that has a list of its own. `#` begins a
comment. The format is described in the suite's README. Nothing here starts a process.
"""

import dataclasses
import re

# `runtests` starts so many ranks where the list names no number.
DEFAULT_RANKS = 2

# Lists beside `testlist`: other datatypes by the suite's generator, other settings of MPICH.
NAMES = ["testlist", "testlist.dtp", "testlist.cvar"]

# How the keys of a line are kept. Keys that may be repeated make lists.
REPEATED = {"arg": "arguments", "env": "environment", "mpiexecarg": "launcher_arguments"}
SINGLE = {
    "timeLimit": "limit_s",
    "resultTest": "result_test",
    "strict": "strict",
    "mpix": "mpix",
    "mpiversion": "version",
    "xfail": "expected_failure",
    "mem": "memory_gib",
}
WITHOUT_EFFECT = {"init", "lock"}

NO_ERRORS = re.compile(r"^\s*No [Ee]rrors\s*$")
ALLOWED = re.compile(r"^\s*(Test Passed|.*FORTRAN STOP.*|)\s*$")


class UnreadableLineError(ValueError):
    """A line that cannot be read."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A program with its number of ranks and arguments. Hashable, so that equal lines are run once."""

    folder: str  # inside the suite, such as threads/comm
    program: str
    ranks: int = DEFAULT_RANKS
    arguments: tuple = ()
    environment: tuple = ()  # NAME=VALUE
    launcher_arguments: tuple = ()
    limit_s: float | None = None
    result_test: str = ""
    strict: str = ""  # "false": the program uses more than MPI's standard
    mpix: str = ""  # "true": the program uses MPICH's extensions
    version: str = ""  # of MPI, which the program needs
    expected_failure: str = ""
    memory_gib: float = 0

    @property
    def name(self):
        return f"{self.folder}/{self.program}"


def parse_line(line, folder):
    """The case of a line, or None for an empty one. Raises UnreadableLineError."""
    words = line.split("#")[0].split()
    if not words:
        return None
    name, *rest = words
    inner, _, program = name.rpartition("/")
    ranks = DEFAULT_RANKS
    if rest and "=" not in rest[0]:
        if not rest[0].isdigit():
            raise UnreadableLineError(f"{folder}: {line.strip()!r}: {rest[0]!r} is not a number of ranks")
        ranks, rest = int(rest[0]), rest[1:]
    fields = {field: [] for field in REPEATED.values()}
    for word in rest:
        key, equals, value = word.partition("=")
        if key in REPEATED and equals:
            fields[REPEATED[key]].append(value)
        elif key in SINGLE and equals:
            fields[SINGLE[key]] = value
        elif key not in WITHOUT_EFFECT:
            raise UnreadableLineError(f"{folder}: {line.strip()!r}: unknown word {word!r}")
    for field in REPEATED.values():
        fields[field] = tuple(fields[field])
    for field in ("limit_s", "memory_gib"):
        if field in fields:
            fields[field] = float(fields[field])
    fields["strict"] = fields.get("strict", "").lower()
    fields["mpix"] = fields.get("mpix", "").lower()
    return Case("/".join(part for part in (folder, inner) if part), program, ranks, **fields)


def read(roots, folder):
    """Cases of a folder and of the folders that its list names, without repetitions.

    A list is looked for below each of `roots`: lists that depend on the library are in the build folder,
    others beside the sources.
    """
    found = {}
    for name in NAMES:
        path = next((root / folder / name for root in roots if (root / folder / name).exists()), None)
        for line in path.read_text().splitlines() if path else []:
            if line.lstrip().startswith("!"):  # `!folder:target`: something to build first; all is built
                continue
            case = parse_line(line, folder)
            if case is None:
                continue
            if any((root / folder / case.program).is_dir() for root in roots):
                found |= dict.fromkeys(read(roots, f"{folder}/{case.program}"))
            else:
                found[case] = None
    return list(found)


def capped(case, most):
    """The case with at most so many ranks."""
    return dataclasses.replace(case, ranks=min(case.ranks, most))


def skip_reason(case, standard_only, version, memory_gib):
    """Why a case is not run, or ''.

    `standard_only`: the library is not MPICH. `version`: of MPI's standard, a pair of numbers. `memory_gib`:
    how much all ranks together may take.
    """
    if standard_only and (case.strict == "false" or case.mpix == "true"):
        return "uses more than MPI's standard"
    if standard_only and case.launcher_arguments:
        return "needs options of MPICH's launcher"
    if case.expected_failure and not standard_only:
        return f"the suite expects a failure ({case.expected_failure})"
    if case.version and tuple(int(n) for n in case.version.split(".")) > version:
        return f"needs MPI {case.version}"
    if case.memory_gib > memory_gib:
        return f"needs {case.memory_gib:g} GiB"
    return ""


def outcome(case, code, out):
    """`pass`, `timeout`, or how the program failed, by its exit code (None: out of time) and its output."""
    if code is None:
        return "timeout"
    lines = out.splitlines()
    if case.result_test in ("TestStatus", "TestErrFatal"):
        return "pass" if code else "fail: exit code 0, and another is required"
    without_errors = any(NO_ERRORS.match(line) for line in lines)
    if case.result_test == "TestStatusNoErrors":
        if not code:
            return "fail: exit code 0, and another is required"
        return "pass" if without_errors else "fail: no line 'No Errors'"
    if code:
        return f"fail: exit code {code}"
    if not without_errors:
        return "fail: no line 'No Errors'"
    if any(not NO_ERRORS.match(line) and not ALLOWED.match(line) for line in lines):
        return "fail: other output"
    return "pass"
