"""Options of the command line and of ini files. The command line goes first."""

import shlex
import shutil
import sys
from pathlib import Path

import pytest

DEFAULT_COMMAND = "evenkeel run -n {ranks} --"

INI = {
    "evenkeel_ranks": "number of ranks for tests whose marker names none",
    "evenkeel_command": "line that starts a job; {ranks} stands for the number of ranks",
    "evenkeel_timeout": "seconds after which a test that has not ended on all ranks is ended (default: 120)",
    "evenkeel_scope": "which tests share a job: module (those of a file with equal ranks) or function (none)",
}


def add(parser, with_mpi):
    """`with_mpi`: whether to define the options of pytest-mpi as well."""
    group = parser.getgroup("evenkeel", "tests on several MPI ranks (pytest-evenkeel)")
    for name, text in INI.items():
        option = "--" + name.replace("_", "-")
        group.addoption(option, dest=name, default=None, metavar=name.partition("_")[2].upper(), help=text)
        parser.addini(name, text)
    if with_mpi:
        group.addoption("--with-mpi", action="store_true", help="MPI tests must run: else they fail")
        group.addoption("--only-mpi", action="store_true", help="run MPI tests only")


def value(config, name):
    """The text that was given for an option, or None."""
    given = config.getoption(name, None)
    return given if given is not None else (config.getini(name) or None)


def number(config, name, convert, default):
    text = value(config, name)
    if text is None:
        return default
    try:
        found = convert(text)
    except ValueError:
        found = 0
    if found <= 0:
        raise pytest.UsageError(f"evenkeel: {name} must be a number above 0, and is {text!r}")
    return found


def default_ranks(config):
    """The number of ranks for markers without one, or None if it was not chosen."""
    return number(config, "evenkeel_ranks", int, None)


def timeout_s(config):
    return number(config, "evenkeel_timeout", float, 120.0)


def shares_jobs(config):
    scope = value(config, "evenkeel_scope") or "module"
    if scope not in ("module", "function"):
        raise pytest.UsageError(f"evenkeel: evenkeel_scope is module or function, and not {scope!r}")
    return scope == "module"


def must_run(config):
    """Whether tests that cannot be started fail; otherwise they are skipped with the reason."""
    asked = config.getoption("with_mpi", False) or config.getoption("only_mpi", False)
    return bool(asked or value(config, "evenkeel_command"))


def command_words(config):
    words = shlex.split(value(config, "evenkeel_command") or DEFAULT_COMMAND)
    if not words:
        raise pytest.UsageError("evenkeel: evenkeel_command is empty")
    return words


def find_program(word):
    """The path of a program: beside the interpreter, where `pip install` puts it, or on PATH; or None."""
    beside = Path(sys.executable).parent / word
    return str(beside) if "/" not in word and beside.is_file() else shutil.which(word)


def launch_line(config, ranks):
    """The beginning of the command line of a job, or None if its program is not installed."""
    words = command_words(config)
    program = find_program(words[0])
    if program is None:
        return None
    if not any("{ranks}" in word for word in words):
        words = [*words, "-n", "{ranks}"]
    if Path(words[0]).name == "evenkeel" and "--" not in words:
        words.append("--")
    return [program, *(word.replace("{ranks}", str(ranks)) for word in words[1:])]


def missing_sentence(config, ranks):
    """Why no test on several ranks can be started here, and what to do."""
    program = command_words(config)[0]
    return (
        f"evenkeel: this test needs {ranks} MPI ranks, and `{program}` is neither beside "
        f"{sys.executable} nor on PATH. Install it (pip install evenkeel), or name another launcher: "
        "--evenkeel-command 'mpiexec -n {ranks}'"
    )
