#!/usr/bin/env python3
"""Prints the licence texts of what the programs contain: crates, and the libraries of the report page.

    packages/licences.py > target/release/THIRD-PARTY

`make build` does this; the file is part of every package. The texts are those in the crates' archives, which
cargo has downloaded to compile them.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LICENCES = re.compile(r"(LICEN[CS]E|COPYING|NOTICE|UNLICENSE|COPYRIGHT)", re.IGNORECASE)


def licence_texts(package):
    """The texts in a crate's archive, or the one that its authors name there."""
    beside = Path(package["manifest_path"]).parent.iterdir()
    files = sorted(file for file in beside if LICENCES.match(file.name) and file.is_file())
    texts = [file.read_text(errors="replace") for file in files]
    texts = [text for text in texts if len(text.splitlines()) > 3]  # not one that only names another file
    if texts:
        return texts
    if "Apache-2.0" in package["license"]:
        return ["Under the Apache License 2.0, as evenkeel: see LICENSE.\n"]
    if package["license"] == "MIT":
        text = (ROOT / "packages" / "MIT.txt").read_text()
        return [f"Copyright (c) {', '.join(package['authors'])}\n\n{text}"]
    return sys.exit(
        f"packages/licences.py: the archive of crate {package['name']} has no licence text. "
        f"Add the text of {package['license']}."
    )


def notices_of_the_page():
    """The notices in the first comment of the bundle, which is compiled into the program."""
    bundle = (ROOT / "web" / "dist" / "page.js").read_text()
    notices = re.match(r"/\*.*?\n\n(.*?)\*/", bundle, re.DOTALL)
    if not notices:
        sys.exit(
            "packages/licences.py: web/dist/page.js has no notices in its first comment. See web/build.mjs."
        )
    return notices.group(1)


def licences():
    """The texts of all crates that the programs may contain."""
    triple = f"{os.uname().machine}-unknown-linux-gnu"
    line = ["tools/cargo.sh", "metadata", "--format-version", "1", "--locked", "--filter-platform", triple]
    listed = subprocess.run(line, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if listed.returncode:
        sys.exit("packages/licences.py: cargo could not list the crates; its messages are above.")
    packages = json.loads(listed.stdout)["packages"]
    texts = []
    for package in sorted(packages, key=lambda package: (package["name"], package["version"])):
        if package["source"]:  # else it is a crate of this project
            texts.append(f"==== {package['name']} {package['version']}: {package['license']} ====\n")
            texts += licence_texts(package)
    return "\n".join([*texts, "==== libraries of the report page ====\n", notices_of_the_page()])


if __name__ == "__main__":
    print(licences())
