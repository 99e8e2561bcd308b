from gossamer.model import State

def pack_page(
    state: State,
    depth: int,
    status: int,
    fetched_at: float,
    tries: int,
    stored: tuple[int, int, int] | None,
    digest: bytes,
    changes: int,
    validators: tuple[bytes, bytes],
    again: bytes,
    /,
) -> bytes: ...
def pack_entry(depth: int, tries: int, hops: int, scheme: str, path: str, /) -> str: ...
def read_entry(packed: str, /) -> tuple[int, int, int, str, str]: ...
