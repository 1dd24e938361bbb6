# Two commands do all set-up: `make studio` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
# uv does not read pip's settings, so pass on the folders where pip looks for wheels.
export UV_FIND_LINKS := $(or $(PIP_FIND_LINKS),$(shell $(PYTHON) -m pip config get global.find-links 2>/dev/null))

.PHONY: studio play shell test versions check proofs bench load clean
.DELETE_ON_ERROR:

studio: .venv/studio
	@echo "To use the command zermelo in another terminal: make shell, or source .venv/bin/activate"
	@$(BIN)/zermelo studio

# An interactive shell in which the command zermelo is found, as after `source .venv/bin/activate`.
shell: .venv/core
	@echo "The command zermelo is ready: try zermelo --help. Leave this shell with exit."
	@VIRTUAL_ENV="$(CURDIR)/.venv" PATH="$(CURDIR)/$(BIN):$$PATH" $${SHELL:-/bin/sh} -i || true

play: .venv/core
	@$(BIN)/zermelo play tictactoe --indices

# Kernels are compiled first, on all cores, so that no test has to wait for them.
test: check
	$(BIN)/zermelo warm
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not proof" --durations 15

# The core has to work with the oldest versions that pyproject.toml allows, and with the newest ones,
# whatever constraints.txt says. Pictures of the full screen differ between versions of textual.
core_tests := tests/core tests/games tests/kernels tests/cli tests/matches tests/store \
	tests/search/test_count.py tests/search/test_textbook.py tests/ui/test_fullscreen.py
define test_with
	@$(BIN)/uv venv --quiet --clear --python $(PYTHON) .venv/$(1)
	@$(BIN)/uv pip install --quiet --python .venv/$(1)/bin/python --resolution $(1) --editable ".[test,tui]"
	@$(BIN)/uv pip list --quiet --python .venv/$(1)/bin/python | grep -E "^(click|numba|numpy|safetensors|textual) "
	.venv/$(1)/bin/python -m pytest -n 2 --dist worksteal -m "not proof" --durations 15 -k "not snapshots" $(core_tests)
endef

versions: .venv/dev
	$(call test_with,lowest-direct)
	$(call test_with,highest)

check: .venv/dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

proofs: .venv/dev
	$(BIN)/python -m pytest -m proof
	$(BIN)/zermelo bench solved --write docs/solved-games.md

bench: .venv/dev
	$(BIN)/zermelo bench playouts
	$(BIN)/zermelo bench envs
	$(BIN)/zermelo bench solve
	$(BIN)/zermelo bench mcts
	$(BIN)/zermelo bench learn
	$(BIN)/zermelo bench hybrid
	$(BIN)/zermelo bench selfplay
	$(BIN)/zermelo bench signature

load: .venv/dev
	$(BIN)/python scripts/load.py --games 2
	$(BIN)/python scripts/hostile.py

clean:
	rm -rf .venv

# uv is several times faster than pip, which is the fallback. Bytecode is compiled here because a
# Python that may not write any would otherwise compile every import again at each start.
extras := cluster,dev,envs,learn,peers,studio,tui,window
define install
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --constraint constraints.txt uv || true
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --constraint constraints.txt --editable "$(1)" \
		|| $(BIN)/python -m pip install --quiet --constraint constraints.txt --editable "$(1)"
	@$(BIN)/python -m compileall -q src
	@touch $@
endef

.venv/core: pyproject.toml constraints.txt
	@echo "Setting up .venv (once)…"
	$(call install,.)

.venv/studio: pyproject.toml constraints.txt
	@echo "Setting up .venv (once)…"
	$(call install,.[studio])
	@touch .venv/core

.venv/dev: pyproject.toml constraints.txt
	@echo "Setting up .venv for development (once)…"
	$(call install,.[$(extras)])
	@touch .venv/core .venv/studio
