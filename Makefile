# The manual is `make help`. Everything a target needs, it installs: a virtual environment in .venv with pinned
# packages, and (for the live parts) a control plane built from Go modules into the user's cache.
PY := .venv/bin/python
PYTEST := $(PY) -m pytest
DEMO ?= university
SCENARIOS ?= 500
.DEFAULT_GOAL := help
.PHONY: help setup run test test-core test-live test-all lint cluster cluster-down kueue kueue-down demo peer peer-smoke bench-peer bench-peer-smoke budgets

help: ## this page
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/ready ## the virtual environment, with pinned packages

.venv/ready: pyproject.toml requirements.lock
	@command -v python3 >/dev/null || { echo "python3 is missing: install Python 3.11 or newer"; exit 2; }
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed, this is $$(python3 -V)"; exit 2; }
	@python3 -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing: install python3-venv"; exit 2; }
	python3 -m venv .venv
	$(PY) -m pip install --quiet --disable-pip-version-check --constraint requirements.lock --editable '.[dev]'
	@touch $@

run: .venv/ready ## simulate the example university: queues, jobs, timeline, who waits and why (no cluster needed)
	.venv/bin/lockgate simulate examples/university
	.venv/bin/lockgate simulate examples/university --output timeline

test: .venv/ready ## core and live tests; builds the control plane on first use (about 11 minutes on 2 cores)
	$(PYTEST) -q tests/core tests/webhooks tests/shell tests/budgets -n 2
	$(PY) -m hack.cluster build
	$(PYTEST) -q tests/live

test-core: .venv/ready ## only what needs no cluster
	$(PYTEST) -q tests/core tests/webhooks tests/shell tests/budgets -n 2

test-live: .venv/ready ## only what needs a real control plane
	$(PY) -m hack.cluster build
	$(PYTEST) -q tests/live

test-all: .venv/ready ## the whole of every tier: all seeds, all kills, full sizes, the real Kueue
	$(PYTEST) -q tests/core tests/webhooks tests/shell tests/budgets -n 2 -m "long or not long" --hypothesis-profile=long
	$(PY) -m hack.cluster build
	$(PY) -m hack.kueue build
	$(PYTEST) -q tests/live tests/peer -m "long or not long" --hypothesis-profile=long

lint: .venv/ready ## ruff, mypy strict, import contracts
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

cluster: .venv/ready ## a real control plane on loopback with simulated nodes (4 plain, 2 A100, 2 T4); prints its kubeconfig
	$(PY) -m hack.cluster up --nodes 4 \
	  --pool name=a100,count=2,cpu=64,memory=512Gi,gpu=nvidia.com/gpu=8,label=nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB \
	  --pool name=t4,count=2,cpu=64,memory=512Gi,gpu=nvidia.com/gpu=8,label=nvidia.com/gpu.product=Tesla-T4

cluster-down: .venv/ready ## stop it and remove its state
	$(PY) -m hack.cluster down

kueue: .venv/ready ## the real Kueue manager on such a control plane
	$(PY) -m hack.kueue up

kueue-down: .venv/ready ## stop it
	$(PY) -m hack.kueue down

demo: .venv/ready ## the example live: cluster up, webhooks and controller, jobs held, admitted, preempted, finished
	$(PY) -m hack.demo examples/$(DEMO)

peer: .venv/ready ## made-up clusters on the real Kueue and on Lockgate: what differs at rest? (SCENARIOS=500 SEED=…)
	$(PY) -m hack.peer --scenarios $(SCENARIOS) $(if $(SEED),--seed $(SEED))

peer-smoke: .venv/ready ## the same with a few scenarios: does it work at all?
	$(PY) -m hack.peer --smoke

bench-peer: .venv/ready ## Lockgate against the real Kueue, back to back, with the mix of Kueue's benchmark
	$(PY) -m hack.bench

bench-peer-smoke: .venv/ready ## the same with some hundred workloads: does it work at all?
	$(PY) -m hack.bench --smoke

budgets: .venv/ready ## how the cost of a decision grows
	$(PY) -m tests.budgets.growth
