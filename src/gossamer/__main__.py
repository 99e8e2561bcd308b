"""The command `gossamer`, which is `python -m gossamer` as well."""

from __future__ import annotations

import gc


def main() -> None:
    gc.disable()  # until a command is loaded: nothing of what that takes is garbage, and looking for some takes time
    from gossamer.cli import main as run

    run()


if __name__ == "__main__":
    main()
