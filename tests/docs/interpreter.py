"""Run blocks of Python in one namespace: each is a line of JSON on standard input."""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
from contextlib import redirect_stdout
from types import ModuleType

from tests.docs.files import use_local_files


def main() -> None:
    """Run each block, and answer with what it printed or with its error."""
    use_local_files()
    page = sys.modules["page"] = ModuleType("page")
    for line in sys.stdin:
        asked = json.loads(line)
        os.environ.update(asked["environ"])
        printed = io.StringIO()
        try:
            with redirect_stdout(printed):
                exec(compile(asked["text"], "page", "exec"), page.__dict__)
            reply = {"printed": printed.getvalue()}
        except BaseException:
            reply = {"error": traceback.format_exc()}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
