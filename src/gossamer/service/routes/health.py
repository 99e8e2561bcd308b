"""What is alive."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from gossamer.service.callers import local_or_key
from gossamer.service.problems import described

router = APIRouter(tags=["watching"], dependencies=[Depends(local_or_key)], responses=described(401, 403, 429, 503))


class Health(BaseModel):
    status: str


@router.get("/healthz")
def healthz() -> Health:
    """That the service answers."""
    return Health(status="ok")
