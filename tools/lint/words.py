"""Looks for words that this project has replaced by the field's terms (docs/src/glossary.md).

`words.txt` has one rule a line: a regular expression, ` => ` and what to write instead; then, optionally,
` @ ` and the paths (as for `git ls-files`) that it is about. Without paths a rule is about every text file of
the checkout. The expression is searched in each line, with upper and lower case alike.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The rules themselves; what others wrote; results that were measured with the words of their time.
EXEMPT = [
    ":!tools/lint/words.txt",
    ":!Cargo.lock",
    ":!**/package-lock.json",
    ":!shims/standard",
    ":!web/dist",
    ":!bench/**/*.json",
    ":!bench/**/*.jsonl",
    ":!bench/**/*.csv",
    ":!*.svg",
    ":!LICENSE",
    ":!packages/pytest/LICENSE",
    ":!packages/MIT.txt",
]
# The one page that names old words, from this heading on.
RENAMED_TERMS = ("docs/src/glossary.md", "\n## Renamed terms\n")


def rules(text):
    """The rules of words.txt: expression, what to write instead, paths."""
    found = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        rule, _, paths = line.partition(" @ ")
        expression, arrow, instead = rule.partition(" => ")
        if not arrow:
            raise ValueError(f"no ' => ' in the rule: {line}")
        found.append((re.compile(expression.strip(), re.IGNORECASE), instead.strip(), paths.split()))
    return found


def findings(rules, files_of, read):
    """Sentences about each occurrence. `files_of(paths)` lists files; `read(file)`: its text, or None."""
    found = []
    for expression, instead, paths in rules:
        for file in files_of(paths):
            for number, line in enumerate((read(file) or "").splitlines(), 1):
                if match := expression.search(line):
                    found.append(f"{file}:{number}: '{match.group(0)}': write {instead}")
    return found


def searched(file, text):
    """What is searched of a file's text: all of it, but not the table of renamed terms."""
    page, heading = RENAMED_TERMS
    return text.partition(heading)[0] if file == page else text


def tracked(paths):
    """Files of the checkout that these paths name."""
    listed = subprocess.run(["git", "ls-files", "-z", "--", *paths, *EXEMPT], capture_output=True, check=True)
    return [name for name in listed.stdout.decode().split("\0") if name]


def main():
    cache = {}

    def read(file):
        if file not in cache:
            try:
                cache[file] = searched(file, Path(file).read_text(encoding="utf-8"))
            except (UnicodeDecodeError, FileNotFoundError):
                cache[file] = None
        return cache[file]

    found = findings(rules((HERE / "words.txt").read_text()), tracked, read)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
