"""Markdown. Pure."""


def table(head, rows, numbers=False):
    """A Markdown table; cells are texts. `numbers`: all columns but the first are aligned to the right.

    >>> print(table(["a", "b"], [["1", "x|y"]]))
    | a | b |
    |---|---|
    | 1 | x\\|y |
    >>> print(table(["a", "b"], [], numbers=True))
    | a | b |
    |---|--:|
    """

    def line(cells):
        return "| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in cells) + " |"

    rule = "|---|" + "--:|" * (len(head) - 1) if numbers else "|" + "---|" * len(head)
    return "\n".join([line(head), rule, *map(line, rows)])
