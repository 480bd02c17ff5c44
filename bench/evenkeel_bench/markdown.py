"""Markdown. Pure."""


def table(head, rows):
    """A Markdown table; cells are texts.

    >>> print(table(["a", "b"], [["1", "x|y"]]))
    | a | b |
    |---|---|
    | 1 | x\\|y |
    """

    def line(cells):
        return "| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in cells) + " |"

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])
