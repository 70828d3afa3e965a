# opdev: `make demo` shows the main job, `make test` sets up and runs every check.
# Both work from a fresh clone; the environment lives in .venv (override with VENV=…).

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.opdev-dev
# The SARIF 2.1.0 schema our reports are held against, from the npm package that carries it.
SARIF := $(VENV)/share/sarif-2.1.0.json
SARIF_PACKAGE := @microsoft/jest-sarif@1.0.0-beta.0
JOBS ?= 2
CLIENT := client-vscode/node_modules/.package-lock.json
PACKS := client-vscode/packs/manifest.json
# What our own wheel is made of.
SHIPPED := $(shell find server rules templates commands -type f -not -path '*/__pycache__/*' -not -name '* *')
TARGET := linux-$(if $(filter aarch64 arm64,$(shell uname -m)),arm64,x64)

# A Python with pypto and torch beside ours: `opdev run verify` simulates PyPTO operators with it.
PYPTO := $(VENV)/pypto
PYPTO_STAMP := $(PYPTO)/.opdev-pypto

.PHONY: demo test lint bench wheel vsix vsix-here vsix-universal system clean

demo: system-demo $(VENV)/.opdev-run
	@BIN=$(BIN) bash tests/corpus/demo.sh

test: system $(STAMP) $(PYPTO_STAMP) $(SARIF) $(PACKS) lint
	$(BIN)/opdev rule test
	cd client-vscode && npm test --silent
	bash tests/e2e/vscode/tools.sh >/dev/null
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -q -r s

lint: $(STAMP) $(CLIENT)
	$(BIN)/ruff check server tests client-vscode/tools
	$(BIN)/ruff format --check server tests client-vscode/tools
	$(BIN)/mypy
	cd client-vscode && npm run --silent types && npm run --silent lint

bench: $(STAMP)
	$(BIN)/python -m pip install -q -e '.[bench]'
	$(BIN)/python tests/bench/run.py

wheel: $(STAMP)
	$(BIN)/python -m build --wheel --no-isolation

# The VS Code extension, as users install it: for this platform with all packages inside, and a small one for all others.
vsix: vsix-here vsix-universal

vsix-here: $(CLIENT) $(PACKS)
	cd client-vscode && npm run --silent package -- --target $(TARGET)

vsix-universal: $(CLIENT)
	cd client-vscode && npm run --silent package -- --ignoreFile .vscodeignore-universal

# What the extension makes its own Python environment of. Only what changed is fetched again.
$(PACKS): $(wildcard client-vscode/tools/*.py client-vscode/tools/*.mjs) pyproject.toml $(SHIPPED) | $(STAMP)
	$(BIN)/python client-vscode/tools/wheels.py
	@touch $@

$(CLIENT): client-vscode/package-lock.json
	cd client-vscode && npm ci --silent
	@touch $@

# What the tests need of the system; installed as root with apt, otherwise named.
system:
	@bash tests/system.sh git nvim npm g++ cmake chromium krb5 chinese-font podman runc
system-demo:
	@bash tests/system.sh git g++ cmake

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 10) else "opdev needs Python 3.10 or newer; say PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.opdev-run: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[sim]'
	@touch $@

$(STAMP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.opdev-run

# What the extra pypto-sim asks for. torch on Linux comes with CUDA unless pip finds a CPU wheel of it; none of CUDA is used.
$(PYPTO_STAMP): pyproject.toml | $(STAMP)
	@mkdir -p $(PYPTO)
	@if $(BIN)/python -c 'import sys; sys.exit(sys.platform != "linux" or sys.version_info >= (3, 13))'; then \
	  $(BIN)/python -m venv $(PYPTO) && \
	  $(BIN)/python -c 'import sys; t = __import__("tomllib" if sys.version_info >= (3, 11) else "tomli"); print(*t.load(sys.stdin.buffer)["project"]["optional-dependencies"]["pypto-sim"], sep="\n")' <pyproject.toml >$(PYPTO)/wheels.txt && \
	  $(PYPTO)/bin/python -m pip install -q --disable-pip-version-check -r $(PYPTO)/wheels.txt; \
	fi
	@touch $@

$(SARIF): | $(VENV)/bin/python
	@mkdir -p $(VENV)/share
	cd $(VENV)/share && npm pack --silent $(SARIF_PACKAGE) >/dev/null && tar xzOf microsoft-jest-sarif-*.tgz package/lib/schemas/sarif-2.1.0-rtm.5.json > sarif.tmp && mv sarif.tmp sarif-2.1.0.json

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
