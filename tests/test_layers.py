"""Dependencies point down: each crate uses only the crates below it, and so do the modules of a crate."""

import tomllib

import pytest

import module_graph
import mpis

ALLOWED = {
    "random": set(),
    "text": set(),
    "statistics": set(),
    "predict": {"random"},
    "diagnostics": set(),
    "output-file": set(),
    "record": set(),
    "options": set(),
    "trace": {"random"},
    "check": {"record", "trace", "random"},
    "segment": {"options"},
    "schedule": {"random"},
    "barrier-table": {"schedule", "options"},
    "spanning": {"record", "schedule"},
    "layout": {"random", "statistics"},
    "secret": set(),
    "datagram": {"secret", "random"},
    "engine": {
        "random",
        "secret",
        "datagram",
        "segment",
        "schedule",
        "spanning",
        "barrier-table",
        "record",
        "options",
    },
    "report": {"record", "random", "text"},
    "debug": {"trace", "text", "random"},
    "noise": {"report", "statistics", "text"},
    "model": {"statistics"},
    "schedule-sim": {"model", "schedule", "random"},
    "route": {"random"},
    "gang": {"random"},
    "cluster-sim": {"gang", "random", "statistics"},
    "fabric": {"secret", "segment"},
    "tune": {"engine", "schedule", "model", "schedule-sim", "random", "statistics"},
    "primitives": {"fabric", "segment"},
    "primitives-c": {"fabric", "primitives"},
    "agent": {
        "diagnostics",
        "secret",
        "datagram",
        "engine",
        "fabric",
        "schedule",
        "spanning",
        "segment",
        "options",
        "random",
    },
    "mpi": {"engine", "layout", "segment", "report", "options", "output-file", "record", "trace"},
    "launch": {"random"},
    "node": {"fabric", "launch", "secret", "random"},
    "share": {"gang"},
    "stacks": set(),
    "shim-generate": set(),
    "switch-sim": {"route"},
    "cli": {
        "random",
        "check",
        "output-file",
        "report",
        "record",
        "options",
        "noise",
        "schedule",
        "model",
        "schedule-sim",
        "segment",
        "fabric",
        "barrier-table",
        "launch",
        "node",
        "share",
        "stacks",
        "trace",
        "debug",
        "tune",
        "route",
        "switch-sim",
        "gang",
        "cluster-sim",
        "text",
        "statistics",
        "predict",
        "diagnostics",
    },
}


def members():
    """Manifests of the workspace's crates, by their names without prefix."""
    paths = tomllib.loads((mpis.ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    manifests = (tomllib.loads((mpis.ROOT / path / "Cargo.toml").read_text()) for path in paths)
    return {manifest["package"]["name"].removeprefix("evenkeel-"): manifest for manifest in manifests}


def ours(manifest):
    """The crates of this workspace that a manifest depends on, in any of its tables."""
    names = set()
    for key, table in manifest.items():
        if key.endswith("dependencies") and isinstance(table, dict):
            names |= set(table)
        elif key == "target":
            for target in table.values():
                names |= {f"evenkeel-{name}" for name in ours(target)}
    return {n.removeprefix("evenkeel-") for n in names if n.startswith("evenkeel-")}


def test_every_crate_is_known():
    assert set(members()) == set(ALLOWED)


def test_dependencies_point_down():
    wrong = {name: used for name, manifest in members().items() if (used := ours(manifest) - ALLOWED[name])}
    assert not wrong, f"these crates use what they must not: {wrong}"


def test_a_wrong_dependency_would_be_seen():
    manifest = tomllib.loads('[target."cfg(unix)".dev-dependencies]\nevenkeel-cli = { workspace = true }\n')
    assert ours(manifest) - ALLOWED["engine"] == {"cli"}


CRATES = sorted(
    {path.parent for path in mpis.ROOT.glob("crates/**/src/lib.rs")} | {mpis.ROOT / "shims/generate/src"}
)


@pytest.mark.parametrize("source", CRATES, ids=lambda path: path.parent.name)
def test_modules_of_a_crate_import_each_other_in_one_direction(source):
    graph = module_graph.rust(source)
    assert graph
    assert not module_graph.circles(graph)


def test_the_c_front_end_includes_in_one_direction():
    graph = module_graph.c(mpis.ROOT / "shims" / "src")
    assert len(graph) > 10
    assert not module_graph.circles(graph)


# The folders of the C front end, from the bottom: each includes only from folders before it.
C_FOLDERS = ["host", "process", "gate", "collective", "message", "trace", "world", "wrappers"]


def includes_up(graph):
    """Includes from a folder into one above it."""
    place = {folder: number for number, folder in enumerate(C_FOLDERS)}
    folders = ((a.split("/")[0], b.split("/")[0]) for a, included in graph.items() for b in included)
    return sorted({(a, b) for a, b in folders if place[b] > place[a]})


def test_the_folders_of_the_c_front_end_use_only_those_below():
    graph = module_graph.c(mpis.ROOT / "shims" / "src")
    assert {name.split("/")[0] for name in graph} == set(C_FOLDERS)
    assert not includes_up(graph)


def test_an_include_from_a_folder_above_is_found():
    assert includes_up({"host/a": {"process/b"}, "process/b": {"host/c"}}) == [("host", "process")]


def planted(tmp_path, **texts):
    for name, text in texts.items():
        path = tmp_path / (name.replace("__", "/") + ".rs")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return module_graph.circles(module_graph.rust(tmp_path))


def test_a_planted_circle_is_found(tmp_path):
    assert planted(
        tmp_path,
        lib="pub mod a; pub mod b; pub mod c;",
        a="use crate::b::{B, inner::deeper as d};\npub struct A;",
        b="pub struct B(pub crate::c::C);",
        c="use super::a::A;\npub struct C(Option<Box<A>>);",
    ) == [["a.rs", "b.rs", "c.rs"]]


def test_a_circle_through_a_parent_is_found(tmp_path):
    parent = "mod child;\npub struct P;\npub fn start() { child::go() }"
    child = "use super::P;\npub fn go() { let _ = P; }"
    assert planted(tmp_path, lib="mod parent;", parent=parent, parent__child=child) == [
        ["parent.rs", "parent/child.rs"]
    ]


def test_reexported_names_are_no_dependency_of_the_module_that_reexports_them(tmp_path):
    assert not planted(
        tmp_path,
        lib="pub mod parent;",
        parent="mod a; mod b;\npub use a::A;\npub use b::B;",
        parent__a="pub struct A;\n#[cfg(test)]\nmod tests {\n    use crate::parent::B;\n}\n",
        parent__b="use super::A;\npub struct B(A);",
    )


def test_a_circle_of_headers_is_found(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.c").write_text('#include "a.h"\n#include "inner/b.h"\n')
    (tmp_path / "inner" / "b.h").write_text('#include "a.h"\n')
    assert module_graph.circles(module_graph.c(tmp_path)) == [["a", "inner/b"]]


def test_shims_know_no_engine():
    """The C side speaks to the engine through evenkeel.h alone."""
    source = mpis.ROOT / "shims" / "src"
    for path in source.rglob("*.[ch]"):
        for line in path.read_text().splitlines():
            if line.startswith('#include "'):
                header = line.split('"')[1]
                assert (source / header).exists() or header in ("evenkeel.h", "declared.h"), f"{path}: {line}"
