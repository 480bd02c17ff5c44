"""Which module imports which, inside one Rust crate or inside the C front end, and the circles among them.

Read as text: `use` items, and paths that begin with `crate::`, `super::`, `self::` or the name of a module of
the module's own; for C, `#include "…"`.
Unit tests inside a module (`#[cfg(test)] mod …`) do not count. A name that a module re-exports is followed to
where it is defined. The module that re-exports it counts as imported too, unless it has no code of its own: a
`mod.rs` that only re-exports names is no link of a circle.
"""

import re
from pathlib import Path

COMMENT = re.compile(r"//[^\n]*")
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.MULTILINE)
RE_EXPORT = re.compile(r"^\s*pub(?:\([^)]*\))?\s+use\s+([^;]+);", re.MULTILINE)
PATH = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")
INLINE_TESTS = re.compile(
    r"^[ \t]*#\[cfg\((?:all\()?test\b[^\n]*\n(?:[ \t]*#\[[^\n]*\n)*[ \t]*(?:pub )?mod \w+ \{", re.MULTILINE
)


def without_tests(source):
    """The source without its inline test modules."""
    while match := INLINE_TESTS.search(source):
        depth, end = 1, match.end()
        while depth and end < len(source):
            depth += {"{": 1, "}": -1}.get(source[end], 0)
            end += 1
        source = source[: match.start()] + source[end:]
    return source


def leaves(tree):
    """The paths of a `use` tree: `a::{b, c::{d, e as f}}` gives a::b, a::c::d, a::c::e."""
    tree = " ".join(tree.split())
    if "{" not in tree:
        return [tree.split(" as ")[0].strip()]
    prefix, rest = tree.split("{", 1)
    rest = rest[: rest.rindex("}")]
    parts, depth, start = [], 0, 0
    for at, char in enumerate(rest):
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(rest[start:at])
            start = at + 1
    parts.append(rest[start:])
    return [leaf for part in parts if part.strip() for leaf in leaves(prefix.strip() + part.strip())]


class Crate:
    """The modules of a crate: a tuple of names, () for the root, to the text of its file."""

    def __init__(self, files):
        """`files`: paths relative to `src`, as strings, to their texts."""
        self.files, self.texts = {}, {}
        for file, text in files.items():
            parts = list(Path(file).with_suffix("").parts)
            if parts[-1] in ("mod", "lib", "main"):
                parts.pop()
            module = tuple(parts)
            if module in self.texts and file == "main.rs":
                continue  # a program beside its library
            self.files[module] = file
            self.texts[module] = STRING.sub('""', COMMENT.sub("", without_tests(text)))

    def absolute(self, module, path):
        """A path as written in a module, from the crate's root on; None if it leads out of the crate."""
        names = path.split("::")
        here = list(module)
        if names[0] == "crate":
            here = []
            names = names[1:]
        elif names[0] == "self":
            names = names[1:]
        elif names[0] == "super":
            while names and names[0] == "super":
                here = here[:-1]
                names = names[1:]
        elif (*module, names[0]) not in self.texts:
            return None
        return tuple(here) + tuple(names)

    def homes(self, path, seen=()):
        """Where an absolute path leads: the module that defines its name, and those that re-export it."""
        module = path
        while module not in self.texts:
            module = module[:-1]
        rest = path[len(module) :]
        if rest and (module, rest) not in seen:
            for tree in RE_EXPORT.findall(self.texts[module]):
                for leaf in leaves(tree):
                    if (target := self.absolute(module, leaf)) and target[-1] in (rest[0], "*"):
                        onward = (target if target[-1] != "*" else (*target[:-1], rest[0])) + rest[1:]
                        homes = self.homes(onward, (*seen, (module, rest)))
                        if target[-1] != "*" or any(self.defines(home, rest[0]) for home in homes):
                            return homes | ({module} if self.has_code(module) else set())
        return {module}

    def has_code(self, module):
        """Whether a module defines anything itself."""
        return re.search(
            r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:unsafe |const |async )*(?:fn|impl|struct|enum|static)\b",
            self.texts[module],
            re.MULTILINE,
        )

    def defines(self, module, name):
        return re.search(
            rf"\b(?:fn|struct|enum|trait|type|const|static|union)\s+{name}\b", self.texts[module]
        )

    def imports(self):
        """Of each module: the modules that it takes something from."""
        graph = {}
        for module, text in self.texts.items():
            written = {leaf for tree in USE.findall(text) for leaf in leaves(tree)}
            re_exported = {leaf for tree in RE_EXPORT.findall(text) for leaf in leaves(tree)}
            written -= re_exported
            body = USE.sub("", text)
            written |= set(PATH.findall(body))
            children = {path[-1] for path in self.texts if path and path[:-1] == module}
            if children:
                written |= set(re.findall(rf"(?<!::)\b(?:{'|'.join(sorted(children))})(?:::\w+)+", body))
            targets = {self.absolute(module, path) for path in written} - {None}
            homes = {home for path in targets for home in self.homes(tuple(n for n in path if n != "*"))}
            graph[self.files[module]] = {self.files[home] for home in homes} - {self.files[module]}
        return graph


def rust(folder):
    """The imports among the modules of the crate whose `src` is this folder."""
    files = {str(path.relative_to(folder)): path.read_text() for path in sorted(Path(folder).rglob("*.rs"))}
    return Crate(files).imports()


def c(folder):
    """The includes among the C files in and below a folder, a source and the header of its name as one.

    A file is named, and included, by its path from `folder`. Headers from elsewhere do not count.
    """
    graph = {}
    for path in sorted(Path(folder).rglob("*.[ch]")):
        name = str(path.relative_to(folder).with_suffix(""))
        included = re.findall(r'^\s*#\s*include\s+"([^"]+)\.h"', path.read_text(), re.MULTILINE)
        graph.setdefault(name, set()).update(to for to in included if to != name)
    return {name: {to for to in targets if to in graph} for name, targets in graph.items()}


def circles(graph):
    """Sets of modules that import each other in a loop (strongly connected components, Tarjan 1972)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for to in sorted(graph.get(node, ())):
            if to not in index:
                visit(to)
                low[node] = min(low[node], low[to])
            elif to in on_stack:
                low[node] = min(low[node], index[to])
        if low[node] == index[node]:
            component = []
            while not component or component[-1] != node:
                component.append(stack.pop())
                on_stack.remove(component[-1])
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found
