"""What each rank of a started job runs: pytest, with its output in a file of the rank's own.

It is run as a script, by its path: it takes over the starter's sys.path before it imports anything else.
"""

import json
import os
import sys
from pathlib import Path


def main():
    directory = Path(os.environ["EVENKEEL_PYTEST_JOB"])
    job = json.loads((directory / "job.json").read_text())
    sys.path[:] = job["path"]

    # By the path of above:
    from pytest_evenkeel import world
    from pytest_evenkeel.report_files import output_path

    rank, size = world.rank_and_size()
    if size != job["ranks"]:
        sys.exit(
            f"evenkeel: the launcher has started {size} ranks in place of {job['ranks']}, as far as its "
            "environment tells. Check --evenkeel-command: does its launcher belong to the tests' MPI library?"
        )
    output = os.open(output_path(directory, rank), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.close(output)

    import pytest

    code = pytest.main([*job["arguments"], "--basetemp", str(directory / f"tmp-{rank}")])
    # Failed tests are in the reports: an exit code above 1 says that pytest itself could not go on.
    sys.stdout.flush()
    sys.exit(0 if code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) else int(code))


if __name__ == "__main__":
    main()
