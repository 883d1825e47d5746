# Everything sets itself up on a fresh Debian machine: python3 and, when root, the packages that Debian splits off.
VENV ?= .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed

.PHONY: demo test check format soak clients browser clean

demo: $(STAMP)
	@$(VENV)/bin/spiral demo

test: $(STAMP)
	$(PY) -m pytest -q

check: $(STAMP)
	$(VENV)/bin/ruff format --check src tests examples
	$(VENV)/bin/ruff check src tests examples
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(PY) -m pytest -q

format: $(STAMP)
	$(VENV)/bin/ruff format src tests examples
	$(VENV)/bin/ruff check --fix src tests examples
	$(PY) -m spiral.surfaces.cli.manual > docs/cli.md

soak: $(STAMP)
	SOAK=1 $(PY) -m pytest -q tests/faults -m "soak or not soak"

clients: $(STAMP) .clients/.installed
	$(PY) -m pytest -q tests/clients -m clients

# The real agents' programs, several hundred MB; where they come from is npm's own setting.
.clients/.installed:
	@if [ "$$(id -u)" = 0 ] && ! command -v npm >/dev/null 2>&1; then \
		apt-get update -qq && apt-get install -y -qq nodejs npm; fi
	@mkdir -p .clients
	npm install --no-audit --no-fund --silent --prefix .clients @anthropic-ai/claude-code @openai/codex
	@touch $@

browser: $(STAMP)
	@if [ "$$(id -u)" = 0 ] && ! command -v chromium >/dev/null; then \
		apt-get update -qq && apt-get install -y -qq chromium; fi
	$(PY) -m pytest -q tests/browser -m browser

$(STAMP): pyproject.toml
	@if [ "$$(id -u)" = 0 ] && ! { python3 -c 'import ensurepip' && command -v git; } >/dev/null 2>&1; then \
		apt-get update -qq && apt-get install -y -qq python3-venv git; fi
	@test -x $(PY) || python3 -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) .clients .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
