"""Dependencies point down: each box may use the ones below it, and nothing else of ours."""

import tomllib

import mpis

ALLOWED = {
    "random": set(),
    "record": set(),
    "options": set(),
    "segment": {"options"},
    "schedule": {"random"},
    "barrier-table": {"schedule", "options"},
    "engine": {"random", "segment", "schedule", "barrier-table", "record", "options"},
    "report": {"record", "random"},
    "noise": {"report"},
    "model": set(),
    "schedule-sim": {"model", "schedule", "random"},
    "route": {"random"},
    "fabric": {"segment"},
    "tune": {"engine", "schedule", "model", "schedule-sim", "random"},
    "primitives": {"fabric", "segment"},
    "primitives-c": {"fabric", "primitives"},
    "agent": {"engine", "fabric", "schedule", "segment", "options", "random"},
    "mpi": {"engine", "report", "options", "record"},
    "shim-generate": set(),
    "switch-sim": {"route"},
    "cli": {
        "random",
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
        "tune",
        "route",
        "switch-sim",
    },
}


def members():
    """Manifests of the workspace's crates, by their names without prefix."""
    paths = tomllib.loads((mpis.ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    manifests = (tomllib.loads((mpis.ROOT / path / "Cargo.toml").read_text()) for path in paths)
    return {manifest["package"]["name"].removeprefix("evenkeel-"): manifest for manifest in manifests}


def ours(manifest):
    """Boxes that a manifest depends on, in any of its tables."""
    names = set()
    for key, table in manifest.items():
        if key.endswith("dependencies") and isinstance(table, dict):
            names |= set(table)
        elif key == "target":
            for target in table.values():
                names |= {f"evenkeel-{box}" for box in ours(target)}
    return {n.removeprefix("evenkeel-") for n in names if n.startswith("evenkeel-")}


def test_every_box_is_known():
    assert set(members()) == set(ALLOWED)


def test_dependencies_point_down():
    wrong = {box: used for box, manifest in members().items() if (used := ours(manifest) - ALLOWED[box])}
    assert not wrong, f"these boxes use what they must not: {wrong}"


def test_a_wrong_dependency_would_be_seen():
    manifest = tomllib.loads('[target."cfg(unix)".dev-dependencies]\nevenkeel-cli = { workspace = true }\n')
    assert ours(manifest) - ALLOWED["engine"] == {"cli"}


def test_shims_know_no_engine():
    """The C side speaks to the engine through evenkeel.h alone."""
    for path in (mpis.ROOT / "shims" / "src").glob("*.[ch]"):
        for line in path.read_text().splitlines():
            if line.startswith('#include "../'):
                assert line.strip() == '#include "../include/evenkeel.h"', f"{path}: {line}"
