#!/usr/bin/env python3
"""mdBook preprocessor: links that lead out of the book, to files of the repository.

On the pages in the repository such links are relative (`../../SECURITY.md`) and work. In the built book they
would be dead. They become links to the forge if `docs/book.toml` names it (`git-repository-url`), else the
name of the file.
"""

import json
import posixpath
import re
import sys

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(((?:\.\./)+[^)#\s]*)(#[^)\s]*)?\)")
SOURCE = "docs/src"


def without_dead_links(content, page, forge):
    """The page's text; `page` is its path in the book, `forge` the repository's address or None."""

    def replaced(match):
        text, target, anchor = match.groups()
        path = posixpath.normpath(posixpath.join(SOURCE, posixpath.dirname(page), target))
        if path.startswith(SOURCE + "/"):
            return match.group(0)
        return f"[{text}]({forge}/blob/main/{path}{anchor or ''})" if forge else f"{text} (`{path}`)"

    return LINK.sub(replaced, content)


def chapters(items):
    """All chapters of a book, parts and separators left out."""
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def main():
    if sys.argv[1:2] == ["supports"]:
        return 0 if sys.argv[2:3] == ["html"] else 1
    context, book = json.load(sys.stdin)
    forge = context["config"].get("output", {}).get("html", {}).get("git-repository-url")
    for chapter in chapters(book.get("sections") or book.get("items") or []):
        if chapter["path"]:
            chapter["content"] = without_dead_links(chapter["content"], chapter["path"], forge)
    json.dump(book, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
