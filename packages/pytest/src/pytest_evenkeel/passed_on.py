"""Which options of the starter's pytest the ranks' pytest gets.

As pytest-xdist does, the ranks get the values of options, the project's own among them, not words of the
command line: those cannot be told from the paths of tests.
"""

import os

# What chooses tests, ends the run, starts processes or writes files is the starter's business alone.
STARTER_ONLY = {
    *("plugins", "override_ini", "file_or_dir", "inifilename", "rootdir", "basetemp", "pyargs"),
    *("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "collectonly", "keepduplicates"),
    *("maxfail", "usepdb", "usepdb_cls", "trace", "capture", "help", "version", "pastebin", "debug"),
    *("lf", "failedfirst", "newfirst", "last_failed_no_failures", "cacheclear", "cacheshow"),
    *("stepwise", "stepwise_skip", "stepwise_reset", "xmlpath", "junitprefix", "log_file", "report_log"),
    *("numprocesses", "maxprocesses", "dist", "distload", "tx", "px", "rsyncdir", "looponfail", "testrunuid"),
    *("htmlpath", "csspath", "json_report", "durations", "showfixtures", "show_fixtures_per_test", "markers"),
    *("setuponly", "setupshow", "setupplan", "evenkeel_command", "evenkeel_scope"),
}
# Options of pytest-cov begin with this; coverage.py measures processes by its own `patch = subprocess`.
COVERAGE = "cov"


def simple(value):
    """Whether JSON gives the value back as it is."""
    if isinstance(value, (list, tuple)):
        return all(map(simple, value))
    return value is None or isinstance(value, (str, int, float, bool))


def values(config):
    """Names and values of the options that ranks get."""
    return {
        name: value
        for name, value in vars(config.option).items()
        if name not in STARTER_ONLY and not name.startswith(COVERAGE) and simple(value)
    }


def apply(config, options):
    for name, value in options.items():
        setattr(config.option, name, value)


def arguments(config, files):
    """The command line of the ranks' pytest: what it must know before it loads the project's files."""
    option = config.option
    words = ["-o", "addopts=", "--rootdir", str(config.rootpath), "-c", str(config.inipath or os.devnull)]
    words += ["--capture", "no", "-p", "no:cacheprovider"]
    for plugin in option.plugins or []:
        if plugin.replace("no:", "") not in ("xdist", "cacheprovider"):
            words += ["-p", plugin]
    for setting in option.override_ini or []:
        if not setting.startswith("addopts"):
            words += ["-o", setting]
    words += ["--import-mode", option.importmode, f"--assert={option.assertmode}"]
    if option.confcutdir:
        words += ["--confcutdir", str(option.confcutdir)]
    if option.noconftest:
        words.append("--noconftest")
    return [*map(str, files), *words]
