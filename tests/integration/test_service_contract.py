"""The OpenAPI document holds: whatever it allows is answered as it says, and a client made from it works (S2)."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import asked_crawl
import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from serving import served

from gossamer.service.app import create_app
from gossamer.service.description import describe
from gossamer.service.envelope import STREAMS
from gossamer.service.keys import KeyFile

EXAMPLES = int(os.environ.get("EXAMPLES", "25"))  # for each route; `make fuzz-api` takes more
GENERATE = "generate --path openapi.json --meta none --output-path crawl_client --fail-on-warning"
URLS = ["", "http://a.test/script", "http://a.test/closed", "http://a.test/never", "http://a.test/odd"]
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("contract") / "c"
    asked_crawl.make(home)
    return home


def test_whatever_the_document_allows_is_answered_as_it_says(home: Path) -> None:
    app = create_app(home)
    schema = schemathesis.openapi.from_dict(describe(app))
    operations = [found.ok() for found in schema.get_all_operations()]
    operations = [each for each in operations if each.path not in STREAMS]  # which have no end: test_service_events.py
    assert len(operations) == 26
    statuses: Counter[int] = Counter()
    with served(app) as port:
        for operation in operations:
            for mode in GenerationMode:

                @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
                @given(case=operation.as_strategy(generation_mode=mode), url=st.sampled_from(URLS))
                def ask(case: schemathesis.Case, url: str) -> None:
                    if url and case.query and "url" in case.query:  # what is made up is hardly ever a URL
                        case.query["url"] = url
                    answer = case.call(base_url=f"http://127.0.0.1:{port}")
                    statuses[answer.status_code] += 1
                    case.validate_response(answer, checks=CHECKS)

                ask()
    assert statuses[200] > EXAMPLES
    assert statuses[422] > 0
    assert statuses[404] > 0


def test_a_client_made_from_the_document_asks_a_running_service(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = KeyFile(home).add("client", "search", 1000)
    try:
        with served(create_app(home)) as port:
            address = f"http://127.0.0.1:{port}"
            described = httpx.get(f"{address}/openapi.json", headers={"Authorization": f"Bearer {key}"})
            (tmp_path / "openapi.json").write_bytes(described.content)
            made = subprocess.run(
                [sys.executable, "-m", "openapi_python_client", *GENERATE.split()],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
            )
            assert made.returncode == 0, made.stdout + made.stderr
            monkeypatch.syspath_prepend(tmp_path)
            generated = importlib.import_module("crawl_client")
            api = importlib.import_module("crawl_client.api.search.search")
            pages = importlib.import_module("crawl_client.api.pages.page")
            content = importlib.import_module("crawl_client.api.pages.content")
            status = importlib.import_module("crawl_client.api.crawl.status")
            with generated.AuthenticatedClient(base_url=address, token=key) as client:
                found = api.sync(client=client, q="words,trap")
                assert (found.total, found.results[0].url) == (1, "http://a.test/script")
                assert found.results[0].fetched_at.year == 2027
                page = pages.sync(client=client, url_query=found.results[0].url)
                assert (page.state, page.status, page.stored.file) == ("fetched", 200, "gossamer-00000.warc.gz")
                assert content.sync(client=client, url_query=page.url).payload.read() == asked_crawl.SCRIPT
                assert status.sync(client=client).index.pages == 31
                missing = pages.sync_detailed(client=client, url_query="http://a.test/never")
                assert missing.status_code == 404
                assert "does not know" in missing.parsed.detail
            with generated.AuthenticatedClient(base_url=address, token="gsm_wrong") as stranger:
                assert api.sync_detailed(client=stranger, q="x").parsed.status == 401
    finally:
        KeyFile(home).revoke("client")
