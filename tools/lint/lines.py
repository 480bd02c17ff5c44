"""No line of Rust, C, Python or shell is longer than 110 columns.

Formatters leave alone what they cannot break: comments, strings, attributes.
"""

import subprocess
import sys

LIMIT = 110
PATTERNS = ["*.rs", "*.c", "*.h", "*.py", "*.sh"]


def long_lines(text):
    """Numbers of the lines that are too long, with their lengths."""
    return [(n, len(line)) for n, line in enumerate(text.splitlines(), 1) if len(line) > LIMIT]


def main():
    files = subprocess.run(["git", "ls-files", *PATTERNS], capture_output=True, text=True, check=True)
    found = 0
    for file in files.stdout.split():
        with open(file, encoding="utf-8") as source:
            for number, length in long_lines(source.read()):
                print(f"{file}:{number}: {length} columns, and {LIMIT} is the most")
                found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
