"""Results of long computations, kept in a file so that an interrupted study goes on where it stopped."""

import json


class KeptResults:
    """Key → result, in a JSON file that has a line for each, so that changes of it can be read."""

    def __init__(self, file):
        self.file = file
        self.known = json.loads(file.read_text()) if file.exists() else {}

    def get(self, key, compute):
        """The result for a key; `compute()` makes it if it is not known yet."""
        if key not in self.known:
            print(key, flush=True)
            self.known[key] = compute()
            lines = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in self.known.items())
            self.file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return self.known[key]
