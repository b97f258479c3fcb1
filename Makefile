# SPDX-License-Identifier: Apache-2.0
# The front door. Everything behind it is CMake, ctest and scripts that can be called directly.
BUILD ?= build
JOBS ?= $(shell nproc)
VENV = $(CURDIR)/.venv

.PHONY: help setup build demo test sanitize bench oracle sweep area mutants records format lint clean

help: ## what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

setup: ## install what is needed (apt packages, .venv)
	@tools/setup.sh

build: setup ## configure and compile everything
	@cmake -G Ninja -S . -B $(BUILD) -DNG_VENV=$(VENV) -Wno-dev >$(BUILD).log 2>&1 || (cat $(BUILD).log; exit 1)
	@rm -f $(BUILD).log
	@cmake --build $(BUILD) -j $(JOBS)

demo: setup ## handwritten digits through the simulated hardware, bit for bit
	@cmake -G Ninja -S . -B $(BUILD) -DNG_VENV=$(VENV) -Wno-dev >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target ng_cli
	@$(VENV)/bin/python examples/digits/run.py --program $(BUILD)/bin/narrowgauge

test: build ## every test
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)
