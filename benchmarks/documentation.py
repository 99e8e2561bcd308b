"""Debian's packages of documentation: where their pages lie, downloaded where they are not installed."""

from __future__ import annotations

import subprocess
from pathlib import Path


class Unobtainable(Exception):
    """A package that is neither installed nor to be had; the message says why."""


def unpacked(package: str, work: Path) -> Path:
    """The root of the package's files, below `work`; it is downloaded the first time."""
    root = work / "root" / package
    if root.is_dir():
        return root
    debs, unfinished = work / "debs", work / "root" / f".{package}"
    for folder in (debs, unfinished):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        if not any(debs.glob(f"{package}_*.deb")):
            _done("apt-get", "download", "-qq", package, folder=debs)
        for deb in debs.glob(f"{package}_*.deb"):
            _done("dpkg", "-x", str(deb), str(unfinished))
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        raise Unobtainable(f"{package} is not installed and cannot be downloaded: {said.strip()}") from None
    return unfinished.rename(root)


def installed(package: str, root: Path = Path("/")) -> list[Path]:
    """The files of a package that is installed; none where it is not, or where there is no dpkg."""
    try:
        listed = _done("dpkg-query", f"--admindir={root / 'var/lib/dpkg'}", "-L", package)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [root / line.lstrip("/") for line in listed.splitlines()]


def pages_of(package: str, work: Path, root: Path = Path("/")) -> list[Path]:
    """Every HTML file of a package, installed below `root` or unpacked below `work`, in order of their names."""
    there = [path for path in installed(package, root) if path.suffix == ".html" and path.is_file()]
    found = there or [path for path in unpacked(package, work).rglob("*.html") if path.is_file()]
    return sorted(found)


def _done(*command: str, folder: Path | None = None) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
