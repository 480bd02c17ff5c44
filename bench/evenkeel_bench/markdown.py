"""Markdown. Pure."""


def table(head, rows, numbers=False):
    """A Markdown table; cells are texts. `numbers`: these columns are aligned to the right; True: all but the
    first.

    >>> print(table(["a", "b"], [["1", "x|y"]]))
    | a | b |
    |---|---|
    | 1 | x\\|y |
    >>> print(table(["a", "b"], [], numbers=True))
    | a | b |
    |---|--:|
    >>> print(table(["a", "b", "c"], [], numbers={0, 2}))
    | a | b | c |
    |--:|---|--:|
    """
    right = range(1, len(head)) if numbers is True else numbers or ()

    def line(cells):
        return "| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in cells) + " |"

    rule = "|" + "".join("--:|" if at in right else "---|" for at in range(len(head)))
    return "\n".join([line(head), rule, *map(line, rows)])
