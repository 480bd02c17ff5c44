"""Links of all Markdown pages lead somewhere; every page of the book is in its table of contents.

Checks relative links with their anchors, and `make TARGET` in code. Commands of the program itself are parsed
by `cargo test -p evenkeel-cli --test book`.
"""

import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"(?<!\!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
MAKE = re.compile(r"(?:^|`|    |\$ )make ([a-z][a-z0-9-]*)", re.MULTILINE)


def anchor(heading):
    """The anchor that mdBook and forges make of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "").lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def anchors(text):
    """All anchors of a page."""
    found = set()
    body = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ +(.*?)\s*#*$", body, re.MULTILINE):
        name, number = anchor(heading), 0
        while (f"{name}-{number}" if number else name) in found:
            number += 1
        found.add(f"{name}-{number}" if number else name)
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def without_code(text):
    """The page without code, in which brackets are no links."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?: {4}|\t).*$", "", text, flags=re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", text)


def check(pages, exists, targets):
    """Sentences about what is wrong. `pages`: path to text; `exists(path)`; `targets`: of the Makefile."""
    wrong = []
    for page, text in pages.items():
        for link in (a or b for a, b in LINK.findall(without_code(text))):
            if re.match(r"[a-z]+:", link):
                continue
            file, _, fragment = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            if not exists(target):
                wrong.append(f"{page}: the link {link} leads nowhere")
            elif fragment and target in pages and fragment not in anchors(pages[target]):
                wrong.append(f"{page}: {target.name} has no heading for #{fragment}")
        wrong += [f"{page}: there is no `make {name}`" for name in MAKE.findall(text) if name not in targets]
    return wrong


def main():
    root = Path(__file__).resolve().parents[2]
    listed = subprocess.run(["git", "ls-files", "-z", "*.md"], capture_output=True, check=True, cwd=root)
    files = [root / name for name in listed.stdout.decode().split("\0") if name]
    pages = {file: file.read_text(encoding="utf-8") for file in files if file.exists()}
    targets = set(
        re.findall(r"^([a-z][a-z0-9-]*(?: [a-z0-9-]+)*):", (root / "Makefile").read_text(), re.MULTILINE)
    )
    targets = {name for names in targets for name in names.split()}
    wrong = check(pages, lambda path: path.exists(), targets)
    book = root / "docs" / "src"
    contents = set(re.findall(r"\]\(([^)]+)\)", (book / "SUMMARY.md").read_text()))
    for page in pages:
        of_the_book = page.is_relative_to(book) and page.name != "SUMMARY.md"
        if of_the_book and str(page.relative_to(book)) not in contents:
            wrong.append(f"{page}: not in docs/src/SUMMARY.md")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
