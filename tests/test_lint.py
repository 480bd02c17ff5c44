"""The project's own checks find planted defects."""

import sys
from pathlib import Path

import pytest

import mpis

sys.path.insert(0, str(mpis.ROOT / "tools" / "lint"))

import book
import lines
import words


def test_a_word_that_was_replaced_is_found_where_its_rule_applies():
    rules = words.rules("# a comment\n\\bgadget\\b => call queue\n(?-i:Card) => process info @ engine\n")
    texts = {"engine/a.rs": "let Gadget = 1;\nCard", "cli/b.rs": "Card and gadgets"}

    def files_of(paths):
        return [name for name in texts if not paths or name.split("/")[0] in paths]

    assert words.findings(rules, files_of, texts.get) == [
        "engine/a.rs:1: 'Gadget': write call queue",
        "engine/a.rs:2: 'Card': write process info",
    ]


def test_a_rule_without_a_replacement_is_refused():
    with pytest.raises(ValueError, match="no ' => '"):
        words.rules("gadget\n")


def test_only_the_table_of_renamed_terms_may_name_old_words():
    page = "# Glossary\nterms\n## Renamed terms\n| old |\n"
    assert words.searched("docs/src/glossary.md", page) == "# Glossary\nterms"
    assert words.searched("CHANGELOG.md", page) == page
    assert "\n## Renamed terms\n" in (mpis.ROOT / "docs/src/glossary.md").read_text()


def test_the_rules_of_the_project_can_be_read():
    assert len(words.rules((mpis.ROOT / "tools" / "lint" / "words.txt").read_text())) > 10


def test_long_lines_are_found():
    assert lines.long_lines("x" * 110 + "\n" + "é" * 111) == [(2, 111)]


def test_broken_links_anchors_and_targets_are_found():
    here = Path("/book/a.md")
    other = Path("/book/b.md")
    pages = {
        here: "[gone](c.md) [b](b.md#a-heading) [bad](b.md#none) [self](#top)\n\n# Top\n\n`make build`\n"
        "`make magic`\n    [code](nowhere.md)\n",
        other: "## A `heading`\n",
    }
    assert book.check(pages, lambda path: path in pages, {"build"}) == [
        "/book/a.md: the link c.md leads nowhere",
        "/book/a.md: b.md has no heading for #none",
        "/book/a.md: there is no `make magic`",
    ]
