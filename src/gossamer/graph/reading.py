"""The links of a graph as people read them: URLs, of every page as it was seen last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gossamer.graph.frame import REDIRECT
from gossamer.graph.log import Held
from gossamer.graph.numbering import Numbering, Watch, lengths_of, places_of


class GraphLink(NamedTuple):
    source: str
    target: str
    kind: str  # link or redirect


def links_in(
    frames: Sequence[Held], scratch: Path, watch: Watch = lambda done, total: None
) -> Iterator[list[GraphLink]]:
    """Some at a time. In memory are some 40 bytes a page; `scratch` is a folder for what is needed on disk."""
    numbering = Numbering(frames, scratch, watch)
    taken = np.zeros(len(numbering), bool)
    for frame, counted in numbering.frames(2):
        last = numbering.last_captures(counted, taken)
        lengths = lengths_of(counted.counts)
        wanted = np.repeat(last, lengths)
        sources = np.repeat(np.frombuffer(frame.sources, "<u4"), lengths)[wanted]
        kinds = np.repeat(counted.counts == REDIRECT, lengths)[wanted]
        columns = (sources.tolist(), places_of(frame)[wanted].tolist(), kinds.tolist())
        urls = [url.decode("utf-8", "replace") for url in frame.urls]
        yield [
            GraphLink(urls[source], urls[target], "redirect" if moved else "link")
            for source, target, moved in zip(*columns, strict=True)
        ]
