# Every target makes what it needs. `make demo` and `make test` are all a newcomer has to know.

PYTHON ?= python3
SECONDS ?= 0
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-slow screenshots lint bench bench-check bench-real bench-frontier bench-grown bench-curves bench-million bench-kill bench-kill-parts bench-kill-each bench-damages bench-fetch bench-slow bench-hostile bench-caps bench-charsets bench-traps bench-links bench-parse bench-worst bench-search bench-index bench-found bench-watch bench-relevance bench-report bench-rank bench-cluster bench-agents bench-trials bench-fresh bench-due bench-strategies bench-hidden fuzz fuzz-api docs clean

$(VENV)/.installed: requirements.txt pyproject.toml $(wildcard src/gossamer/*/*.[ch])
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Gossamer needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.txt requirements-cluster.txt requirements-focused.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt -r requirements-focused.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-cluster.txt
	@touch $@

demo: $(VENV)/.installed  ## crawl a simulated web, search it, leave the pages open while it goes on (SECONDS=20 ends by itself)
	$(BIN)/python examples/demo.py --seconds $(SECONDS)

# Pages are tested in a browser. Where none can be installed, those tests say loudly that they did not run.
$(VENV)/.browser: $(VENV)/.installed-dev
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
		|| { test "$$(id -u)" = 0 && { apt-get update -q; apt-get install -y -q --no-install-recommends chromium; }; } \
		|| echo "There is no chromium, and it cannot be installed: pages are NOT TESTED in a browser."
	@touch $@

# A file at a time on each core.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile

test: $(VENV)/.installed-dev $(VENV)/.browser  ## run every test but the long trials
	$(PYTEST) -m "not slow" $(TESTS)

test-slow: $(VENV)/.installed-dev $(VENV)/.browser  ## run the long trials, which are marked slow
	$(PYTEST) -m slow $(TESTS)

screenshots: $(VENV)/.installed-dev $(VENV)/.browser  ## pictures of all pages in bench-work/; those that the documents show in docs/images
	$(BIN)/python tests/acceptance/screenshots.py --out bench-work/screenshots

lint: $(VENV)/.installed-dev  ## ruff, mypy, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/.installed-dev  ## side by side with other crawlers, on one core each
	$(BIN)/python benchmarks/side_by_side.py

bench-check: $(VENV)/.installed-dev  ## instructions and calls of a page, beside those kept: fails where it costs more
	$(BIN)/python benchmarks/check.py

bench-real: $(VENV)/.installed-dev  ## side by side on the pages of Debian's documentation
	$(BIN)/python benchmarks/real_pages.py

bench-frontier: $(VENV)/.installed-dev  ## the frontier alone, at several sizes
	$(BIN)/python benchmarks/frontier_scale.py

bench-grown: $(VENV)/.installed-dev  ## a crawl that knows ten million URLs beside a small one
	$(BIN)/python benchmarks/grown.py

bench-curves: $(VENV)/.installed-dev  ## what a page costs as URLs, hosts, connections, sizes and links grow
	$(BIN)/python benchmarks/curves.py --json bench-work/curves.json
	$(BIN)/python benchmarks/curve_plot.py bench-work/curves.json docs/images/

bench-million: $(VENV)/.installed-dev  ## a million pages of the simulated web: CPU and memory at the end beside the beginning
	$(BIN)/python benchmarks/million.py

bench-kill: $(VENV)/.installed-dev  ## killed again and again: nothing lost, nothing twice
	$(BIN)/python benchmarks/kill_loop.py

bench-damages: $(VENV)/.installed-dev  ## one file of a directory damaged in every way: what happens, and the way back
	$(BIN)/python benchmarks/damages.py

bench-kill-parts: $(VENV)/.installed-dev  ## the same with applications, strategies, a watch and forms on the crawl
	$(BIN)/python benchmarks/kill_loop.py apps strategies watch forms

bench-kill-each: $(VENV)/.installed-dev  ## agent, index and service killed in turn: each is back, the others go on
	$(BIN)/python benchmarks/kill_each.py

bench-fetch: $(VENV)/.installed-dev  ## the fetcher alone, beside libcurl alone
	$(BIN)/python benchmarks/fetch_alone.py

bench-slow: $(VENV)/.installed-dev  ## servers that take two seconds: speed, and the lag of the event loop
	$(BIN)/python benchmarks/slow_servers.py

bench-hostile: $(VENV)/.installed-dev  ## a web that means harm: up, small, polite, complete
	$(BIN)/python benchmarks/hostile.py

bench-caps: $(VENV)/.installed-dev  ## caps on pages and bytes a second, changed in the middle
	$(BIN)/python benchmarks/caps.py

bench-charsets: $(VENV)/.installed-dev  ## pages in many encodings, beside other detectors
	$(BIN)/python benchmarks/charsets.py

bench-traps: $(VENV)/.installed-dev  ## what endless places cost a crawl
	$(BIN)/python benchmarks/traps.py

bench-links: $(VENV)/.installed-dev  ## links beside other parsers, on the documentation of this machine
	$(BIN)/python benchmarks/links.py

bench-parse: $(VENV)/.installed-dev  ## the steps of reading a page
	$(BIN)/python benchmarks/parse_steps.py

bench-worst: $(VENV)/.installed-dev  ## the pages that take longest to read
	$(BIN)/python benchmarks/worst_pages.py

bench-index: $(VENV)/.installed-dev  ## what indexing a page costs, step by step
	$(BIN)/python benchmarks/indexing.py

bench-found: $(VENV)/.installed-dev  ## how long after its fetch a page can be found, at several speeds of a crawl
	$(BIN)/python benchmarks/found.py

bench-watch: $(VENV)/.installed-dev  ## how long after the fetch of a page its watch calls; what watches cost who indexes
	$(BIN)/python benchmarks/watches.py

bench-relevance: $(VENV)/.installed-dev  ## documentation crawled, indexed and asked: the right page among the first three?
	$(BIN)/python benchmarks/relevance.py

bench-search: $(VENV)/.installed-dev  ## the index with 100,000 documents, beside SQLite's FTS5
	$(BIN)/python benchmarks/search_scale.py

bench-report: $(VENV)/.installed-dev  ## the report on a million pages
	$(BIN)/python benchmarks/report_scale.py

bench-rank: $(VENV)/.installed-dev  ## PageRank of ten million pages and a hundred million links: time and memory
	$(BIN)/python benchmarks/rank_scale.py

bench-fresh: $(VENV)/.installed-dev  ## sixty simulated days: how fresh pages are kept, and for how many bytes
	$(BIN)/python benchmarks/freshness.py --json bench-work/freshness.json
	$(BIN)/python benchmarks/freshness_plot.py bench-work/freshness.json docs/images/freshness.svg

bench-due: $(VENV)/.installed-dev  ## what it costs to pick what is due, of 100,000 and a million visits
	$(BIN)/python benchmarks/due_scale.py

bench-strategies: $(VENV)/.installed-dev  ## pages about a topic among the first 5,000, and how fair a random sample is
	$(BIN)/python benchmarks/strategies.py --json bench-work/strategies.json
	$(BIN)/python benchmarks/strategy_plot.py bench-work/strategies.json docs/images/

bench-cluster: $(VENV)/.installed-dev  ## the broker of a cluster alone, one server and three
	$(BIN)/python benchmarks/cluster_engine.py

bench-agents: $(VENV)/.installed-dev  ## speed by agents and connections, and how evenly agents share the web
	$(BIN)/python benchmarks/agent_speed.py --json bench-work/agents.json --picture docs/images/agents.svg

bench-trials: $(VENV)/.installed-dev  ## several agents on one crawl, and what may happen to them, judged by the web's log
	$(BIN)/python benchmarks/cluster_trials.py complete
	$(BIN)/python benchmarks/cluster_trials.py faults

fuzz: $(VENV)/.installed-dev  ## inputs that mean harm: no exception, no hang, no difference (SECONDS=600)
	$(BIN)/python benchmarks/fuzz.py --seconds $(if $(filter 0,$(SECONDS)),600,$(SECONDS)) --out bench-work/fuzz

bench-hidden: $(VENV)/.installed-dev  ## how much of a catalogue behind a form is found, by the number of queries
	$(BIN)/python benchmarks/hidden_web.py
	$(BIN)/python benchmarks/hidden_web.py --most 40
	$(BIN)/python benchmarks/hidden_web.py --post
	$(BIN)/python benchmarks/hidden_web.py --most 40 --post

fuzz-api: $(VENV)/.installed-dev  ## the service asked whatever its description allows, and what it does not
	EXAMPLES=1000 $(BIN)/python -m pytest tests/integration/test_service_contract.py

docs: $(VENV)/.installed-dev  ## write the generated pages of docs/ again
	$(BIN)/python -m gossamer.config > docs/configuration.md
	$(BIN)/python tests/contract/differences.py > docs/conformance.md

clean:
	rm -rf $(VENV) demo-crawl bench-work
