"""All packages are of the same version and install the same files.

The packages themselves are built and tried by `make test-wheel`, `make test-deb` and `make test-rpm`.
"""

import ast
import fnmatch
import re
import subprocess
import tarfile
import tomllib

import pytest

from paths import RELEASE, ROOT

PACKAGES = ROOT / "packages"
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def read(name):
    return (PACKAGES / name).read_text()


def lines(text):
    """Lines of a list, without comments."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def conda(name):
    """A file of the recipe as YAML, with templates replaced and selectors taken for comments."""
    yaml = pytest.importorskip("yaml", reason="PyYAML is missing: tools/install-deps.sh test installs it")
    return yaml.safe_load(re.sub(r"\{\{.*?\}\}", "template", read(f"conda/{name}")))


# ---- versions ----

SPACK = "spack/spack_repo/evenkeel/packages/evenkeel/package.py"

VERSIONS = {
    "debian/changelog": r"\Aevenkeel \((.*?)\)",
    "rpm/evenkeel.spec": r"^Version: +(\S+)",
    SPACK: r'^    version\("(.*?)"',
    "conda/meta.yaml": r'^  version: "(.*?)"',
    "container/evenkeel.def": r"^    Version (\S+)",
}


@pytest.mark.parametrize("recipe", VERSIONS)
def test_a_recipe_has_the_version_of_the_project(recipe):
    assert re.search(VERSIONS[recipe], read(recipe), re.MULTILINE).group(1) == VERSION


@pytest.mark.parametrize("recipe", [*VERSIONS, "container/Dockerfile"])
def test_file_names_in_a_recipe_have_the_version_of_the_project(recipe):
    named = re.findall(r"(?:evenkeel|-dev)[_-](\d+\.\d+\.\d+)", read(recipe))
    assert set(named) <= {VERSION}


def test_the_latest_change_of_the_rpm_is_of_this_version():
    change = read("rpm/evenkeel.spec").split("%changelog\n")[1].splitlines()[0]
    assert re.fullmatch(rf"\* .* - {re.escape(VERSION)}-\d+", change), change


RUST = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]


@pytest.mark.parametrize(
    "text",
    [
        "packages/debian/control",
        "packages/rpm/evenkeel.spec",
        f"packages/{SPACK}",
        "packages/conda/meta.yaml",
        "tools/cargo.sh",
        "tools/install-deps.sh",
        "CONTRIBUTING.md",
        "docs/src/start.md",
    ],
)
def test_the_rust_that_is_asked_for_is_the_one_that_the_project_needs(text):
    needed = re.findall(
        r"(?:[Rr]ust|cargo|rustc|cargo-web|rustc-web|version)(?: of| \(>=| >=|@| ) ?(1\.\d+)"
        r"|needed=\d+ # of (1\.\d+)",
        (ROOT / text).read_text(),
    )
    assert {"".join(pair) for pair in needed} == {RUST}


# ---- files ----


def differences(files, patterns):
    """What is wrong with a list of patterns that is to match all of these files, and nothing else."""

    def matches(file, pattern):
        return fnmatch.fnmatch(file, pattern) or file.startswith(f"{pattern}/")

    unlisted = [f"{file} is not in the list" for file in files if not any(matches(file, p) for p in patterns)]
    absent = [f"there is no {pattern}" for pattern in patterns if not any(matches(f, pattern) for f in files)]
    return unlisted + absent


def test_a_file_that_a_list_lacks_and_one_that_is_not_there_are_found():
    assert differences(["bin/a", "lib/x/b.so", "lib/x/c"], ["bin/*", "lib/x"]) == []
    assert differences(["bin/a", "lib/b.so"], ["bin/a", "share/c"]) == [
        "lib/b.so is not in the list",
        "there is no share/c",
    ]


def files_below(directory):
    return sorted(str(f.relative_to(directory)) for f in directory.rglob("*") if not f.is_dir())


def make(*words):
    line = ["make", *words, "EVENKEEL_DEPS=none", f"RELEASE={RELEASE}"]
    subprocess.run(line, cwd=ROOT, check=True, capture_output=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Where `make install-files` has installed what was built."""
    prefix = tmp_path_factory.mktemp("prefix")
    make("install-files", f"PREFIX={prefix}")
    return prefix


def test_make_installs_the_files_of_the_list(installed):
    assert differences(files_below(installed), lines(read("files.txt"))) == []


def test_make_uninstall_leaves_nothing_but_what_others_have_installed(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "other.so").write_text("")
    make("install-files", f"PREFIX={tmp_path}")
    make("uninstall", f"PREFIX={tmp_path}")
    assert files_below(tmp_path) == ["lib/other.so"]
    assert [d for d in tmp_path.rglob("evenkeel") if d.is_dir()] == []


def test_the_debian_packages_have_all_files(installed):
    lists = [*sorted((PACKAGES / "debian").glob("*.install")), PACKAGES / "debian" / "not-installed"]
    sources = [line.split()[0] for path in lists for line in lines(path.read_text())]
    assert all(source.startswith("usr/") for source in sources), sources
    patterns = [source.removeprefix("usr/") for source in sources]
    assert differences(files_below(installed), patterns) == []


def rpm_patterns(spec):
    """The files in the %files sections of a spec file, relative to the prefix."""
    directories = {
        "%{_prefix}/": "",
        "%{_bindir}": "bin",
        "%{_includedir}": "include",
        "%{_libdir}": "lib",
        "%{_datadir}": "share",
        "%{_mandir}": "share/man",
    }
    sections = re.findall(r"^%files.*\n((?:.+\n)+)", spec, re.MULTILINE)
    patterns = []
    for line in lines("\n".join(sections)):
        if line.startswith("%dir "):
            continue
        if line.startswith(("%license ", "%doc ")):
            patterns += [f"share/doc/evenkeel/{name}" for name in line.split()[1:]]
            continue
        pattern = line
        for macro, directory in directories.items():
            pattern = pattern.replace(macro, directory)
        patterns.append(pattern)
    return patterns


def test_the_rpm_packages_have_all_files(installed):
    assert differences(files_below(installed), rpm_patterns(read("rpm/evenkeel.spec"))) == []


def test_the_conda_recipe_tests_all_files(installed):
    commands = conda("meta.yaml")["test"]["commands"]
    patterns = [word.removeprefix("$PREFIX/") for c in commands for word in c.split() if "$PREFIX" in word]
    assert differences(files_below(installed), patterns) == []


@pytest.mark.parametrize(
    "recipe",
    [
        "wheel/make_wheel.py",
        "debian/rules",
        "rpm/evenkeel.spec",
        SPACK,
        "conda/build.sh",
        "container/Dockerfile",
    ],
)
def test_a_recipe_lets_make_install_the_files(recipe):
    assert "install-files" in read(recipe)


def test_the_source_archive_has_the_tracked_files(tmp_path):
    line = [PACKAGES / "source.sh", tmp_path]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{tmp_path}/evenkeel-{VERSION}.tar.gz"
    with tarfile.open(done.stdout.strip()) as archive:
        names = [member.name for member in archive if not member.isdir()]
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert sorted(names) == sorted(
        f"evenkeel-{VERSION}/{name}" for name in tracked.stdout.split("\0") if name
    )


# ---- recipes that cannot be built everywhere ----


def test_the_spack_recipe_is_the_class_that_spack_looks_for():
    tree = ast.parse(read(SPACK))
    (recipe,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert recipe.name == "Evenkeel"
    assert [base.id for base in recipe.bases] == ["MakefilePackage"]
    methods = {node.name for node in recipe.body if isinstance(node, ast.FunctionDef)}
    assert {"setup_build_environment", "build", "install"} <= methods


def test_the_conda_recipe_is_for_each_mpi_library_of_conda():
    recipe = conda("meta.yaml")
    assert recipe["package"]["name"] == "evenkeel"
    assert (ROOT / recipe["build"]["script"]).exists()
    assert conda("conda_build_config.yaml") == {"mpi": ["mpich", "openmpi"]}


@pytest.mark.parametrize(
    "recipe",
    [
        "rpm/evenkeel.spec",
        SPACK,
        "conda/meta.yaml",
        "container/Dockerfile",
        "container/evenkeel.def",
    ],
)
def test_a_recipe_says_what_was_tried(recipe):
    comments = [line for line in read(recipe).splitlines()[:12] if line.startswith("#")]
    assert any("What was tried:" in line for line in comments)
