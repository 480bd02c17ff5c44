"""The plugins mpi-pytest and pytest-mpi, whose markers this plugin runs in their place.

Both have the module `pytest_mpi`. Tests may import it, so it may well be installed beside this plugin.
"""

from importlib import metadata


def installed(distribution):
    try:
        metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def define_with_mpi(pluginmanager):
    """Whether pytest-mpi defines `--with-mpi` and `--only-mpi` in this run."""
    return installed("pytest-mpi") and not pluginmanager.is_blocked("pytest_mpi")


def define_fixtures(pluginmanager):
    """Whether pytest-mpi defines `mpi_tmp_path` and the like in this run."""
    return define_with_mpi(pluginmanager)


def replace(pluginmanager):
    """Takes the hooks of both plugins out: a test must not be started, skipped or reported twice."""
    for plugin in list(pluginmanager.get_plugins()):
        module = getattr(plugin, "__name__", "") or ""
        of_class = type(plugin).__module__
        if any(name.split(".")[0] == "pytest_mpi" for name in (module, of_class)):
            pluginmanager.unregister(plugin)
