"""Stands for `gossamer agent` in tests of its supervisor: reaches the broker, writes progress, ends when all do.

A file `behave` in the directory above those of the agents has a line for each agent that does something besides:
`NAME WHAT`. WHAT is done once a directory.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import msgspec

from gossamer.agent.broker_file import read_broker
from gossamer.agent.progress import Progress
from gossamer.agent.together import write_progress
from gossamer.agent.ward import obey_leash
from gossamer.cluster.broker import open_keys
from gossamer.cluster.shared import end_crawl, read_end, read_settings
from gossamer.errors import UnavailableError


async def work(home: Path) -> int:
    broker = read_broker(home)
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    (home / "warc").mkdir(exist_ok=True)
    for kind in ("warc.gz", "cdxj"):
        (home / "warc" / f"gossamer-00001.{kind}").write_text(home.name)
    progress = Progress(pages=10, ok=9, urls=20, cpu_seconds=0.5, statuses={"2xx": 9, "4xx": 1})
    link = await broker.connect(broker.name)
    keys = await open_keys(link)
    settings = await read_settings(keys)
    assert settings is not None
    (home / "seen.json").write_text(json.dumps({"words": sys.argv[1:], "version": settings.version}))
    write_progress(home, progress)
    while not told.is_set():
        try:
            if end := await read_end(keys):
                progress.reason = end.reason
                break
            await behave(home, keys)
        except UnavailableError:
            pass
        await asyncio.sleep(0.02)
    await link.close()
    progress.running, progress.reason = False, progress.reason or "stopped"
    sys.stdout.buffer.write(msgspec.msgpack.encode(progress))
    return 130 if progress.reason == "stopped" else 0


async def behave(home: Path, keys: object) -> None:
    done = home / "behaved"
    lines = [line.split() for line in (home.parents[1] / "logs" / "behave").read_text().splitlines()]
    for name, what in lines:
        if name != home.name or done.exists():
            continue
        if what == "end":
            if all((home.parent / other / "logs" / "progress").exists() for other, _ in lines):
                done.touch()
                await end_crawl(keys, "complete", name)  # type: ignore[arg-type]
        elif what == "end-when-told":
            if (home.parents[1] / "logs" / "told").exists():
                await end_crawl(keys, "complete", name)  # type: ignore[arg-type]
        elif what == "die":
            done.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        elif what == "interrupt":
            done.touch()
            os.kill(os.getppid(), signal.SIGTERM)
        elif what == "refuse":
            print("gossamer: this is wrong", file=sys.stderr)
            sys.exit(2)


if __name__ == "__main__":
    obey_leash()
    sys.exit(asyncio.run(work(Path(sys.argv[sys.argv.index("--dir") + 1]))))
