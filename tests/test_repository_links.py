"""Links that lead out of the book become links to the forge, or names of files."""

import sys

import mpis

sys.path.insert(0, str(mpis.ROOT / "docs"))

from repository_links import without_dead_links

PAGE = "decisions/agents.md"
TEXT = "[what is trusted](../../../SECURITY.md#scope) and [models](../models.md), ![plot](../plot.svg)"


def test_links_out_of_the_book_lead_to_the_forge():
    assert without_dead_links(TEXT, PAGE, "https://forge.example/evenkeel") == (
        "[what is trusted](https://forge.example/evenkeel/blob/main/SECURITY.md#scope)"
        " and [models](../models.md), ![plot](../plot.svg)"
    )


def test_without_a_forge_links_out_of_the_book_become_names_of_files():
    assert without_dead_links(TEXT, PAGE, None) == (
        "what is trusted (`SECURITY.md`) and [models](../models.md), ![plot](../plot.svg)"
    )
