# The manual is `make help`.
PY := .venv/bin/python
.DEFAULT_GOAL := help
.PHONY: help run test lint

help: ## this page
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.venv/ready: pyproject.toml
	python3 -m venv .venv
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

test: .venv/ready ## the core and live tests
	$(PY) -m pytest tests/core tests/webhooks

lint: .venv/ready ## ruff, mypy, import contracts
	.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy && .venv/bin/lint-imports
