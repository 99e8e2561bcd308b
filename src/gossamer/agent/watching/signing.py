"""How calls to webhooks are signed: as Standard Webhooks says (https://www.standardwebhooks.com), so that those who
receive them can use a library for it.
"""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from hashlib import sha256

from gossamer.agent.watching.watch import SECRET


def signature(secret: str, id_: str, timestamp: int, body: bytes) -> str:
    """Of the id, the time and the body: what was sent before cannot be sent again as something new."""
    key = b64decode(secret.removeprefix(SECRET))
    signed = b"%b.%d.%b" % (id_.encode(), timestamp, body)
    return "v1," + b64encode(hmac.digest(key, signed, sha256)).decode()


def headers(secret: str, id_: str, timestamp: int, body: bytes) -> list[str]:
    return [
        "Content-Type: application/json",
        f"webhook-id: {id_}",
        f"webhook-timestamp: {timestamp}",
        f"webhook-signature: {signature(secret, id_, timestamp, body)}",
    ]
