"""The command `gossamer`, which is `python -m gossamer` as well."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    gc.disable()  # until a command is loaded: nothing of what that takes is garbage, and looking for some takes time
    try:
        from gossamer.cli import main as run

        run()
    except KeyboardInterrupt:  # before a command could heed Ctrl-C
        sys.exit(130)


if __name__ == "__main__":
    main()
