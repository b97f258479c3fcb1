# SPDX-License-Identifier: Apache-2.0
# The front door. Everything behind it is CMake, ctest and scripts that can be called directly.
BUILD ?= build
JOBS ?= $(shell nproc)
VENV = $(CURDIR)/.venv
PYTHON = $(VENV)/bin/python
LEDGER = $(PYTHON) -m ngtools.ledger $(BUILD) --jobs $(JOBS)
export PYTHONPATH = $(CURDIR)/tools

.PHONY: help setup setup-area board-hx8k board-icebreaker board-ulx3s board-ulx3s_large board-tangnano20k board-arty_a7 board-pynq_z2 board-zcu104 compare configure build python demo test test-all renew sanitize bench wheel oracle area power sram ladder generate locks sbom traces pictures site screenshots formats style clean

help: ## what can be made
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /  make \1\t/' | expand -t 20

setup: ## install what is needed (Debian packages, .venv)
	@tools/setup.sh

setup-area: ## what only area and tests of other tools use, 910 MB: nextpnr for ECP5 and Gowin, a newer Yosys, FuseSoC, JAX
	@tools/setup.sh area

WHOLE = -DNG_TESTS=ON -DNG_BENCHMARKS=ON -DNG_PYTHON=ON -DNG_SYSTEMC=ON
DEMO = -DNG_TESTS=OFF -DNG_BENCHMARKS=OFF -DNG_PYTHON=OFF -DNG_SYSTEMC=OFF
CONFIGURE = cmake -G Ninja -S . -B $(BUILD) -DNG_VENV=$(VENV) -Wno-dev

configure: setup
	@echo "configure: $(BUILD)"
	@$(CONFIGURE) $(WHOLE) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@mv $(BUILD).log $(BUILD)/configure.log

build: configure ## compile everything
	@cmake --build $(BUILD) -j $(JOBS)

python: configure ## the Python package in build/python, with the engines rtl and systemc
	@cmake --build $(BUILD) -j $(JOBS) --target ng_cli ng_python ng_tile_large

demo: ## handwritten digits through the simulated hardware, bit for bit
	@tools/setup.sh demo
	@test -e $(BUILD)/build.ninja || $(CONFIGURE) $(DEMO) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@test ! -e $(BUILD).log || mv $(BUILD).log $(BUILD)/configure.log
	@cmake --build $(BUILD) -j $(JOBS) --target ng_cli ng_tile_large ng_tile_large_e4m3
	@$(PYTHON) examples/digits/run.py --program $(BUILD)/bin/narrowgauge

test: build ## every unit and every face at everyday depth; fails on a stale verdict of what only test-all runs
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS) $(CTEST_ARGUMENTS)

test-all: build ## everything, to the depth that is recorded; its verdicts go into verif/ledger.jsonl
	@$(LEDGER) seed
	@cmake --build $(BUILD) -j $(JOBS) --target deep ng_bench_tile_engine
	@ctest --test-dir $(BUILD) -C deep --output-on-failure -j $(JOBS) -LE ledger || failed=1; \
	$(LEDGER) record || failed=1; \
	$(PYTHON) tools/ngtools/generate.py && test -z "$$failed" # one failure does not cost the verdicts of all others

renew: configure ## runs the jobs whose verdicts in verif/ledger.jsonl are stale or missing (JOBS_TO_RENEW names others), and records them
	@$(LEDGER) renew $(foreach job,$(JOBS_TO_RENEW),'$(job)') || failed=1; \
	$(PYTHON) tools/ngtools/generate.py && test -z "$$failed"

sanitize: ## all C and C++ tests under ASan and UBSan, in build-sanitize; their verdicts go into verif/ledger.jsonl
	@$(MAKE) --no-print-directory renew JOBS_TO_RENEW='sanitize.*'

bench: build ## speed on one thread: golden model next to numpy and ml_dtypes, tile next to its array, questions and design points
	@PYTHONPATH=$(BUILD)/python:$(PYTHONPATH) $(PYTHON) python/bench/bench.py
	@cmake --build $(BUILD) -j $(JOBS) --target ng_bench_tile_engine
	@$(BUILD)/engines/bench/ng_bench_tile_engine
	@$(BUILD)/power/bench/ng_bench_power
	@$(BUILD)/power/bench/ng_bench_explore

wheel: setup ## the Python package for pip, in dist/
	@.venv/bin/pip wheel --no-deps --no-build-isolation --disable-pip-version-check -w dist .

# uv and cyclonedx-python-lib, in an environment of their own.
RELEASE = $(BUILD)/release
RELEASE_LOCK = python/requirements-release.lock
$(RELEASE)/.requirements: $(RELEASE_LOCK)
	@python3 -m venv --clear $(RELEASE)
	@$(RELEASE)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $(RELEASE_LOCK)
	@cp $(RELEASE_LOCK) $@

locks: $(RELEASE)/.requirements ## Python packages by version and hash: the .lock beside each list of packages that has changed
	@$(RELEASE)/bin/python tools/ngtools/locks.py

sbom: $(RELEASE)/.requirements ## the bill of materials of a release (CycloneDX), in dist/
	@$(RELEASE)/bin/python tools/ngtools/sbom.py dist/narrowgauge-$$(sed -nE 's/.*project\(narrowgauge VERSION ([0-9.]+).*/\1/p' CMakeLists.txt).cdx.json

oracle: build ## every float32 against ml_dtypes (an hour) and through the fast encoders (minutes)
	@cmake --build $(BUILD) --target encode_sweep oracle

NAMED_TILES = ecp5 luq chain chain_fp8 codec sparse sparse_luq
area: setup-area ## area and speed of every unit again: synth/records and docs/area.md (hours of CPU; what was routed is kept in build/area)
	@$(PYTHON) synth/synth.py --record --jobs $(JOBS)
	@$(PYTHON) synth/synth.py --route --jobs $(JOBS)
	@$(PYTHON) synth/synth.py --route $(NAMED_TILES:%=tile_%) --target ecp5_85f --seeds 1 --jobs $(JOBS)

board-hx8k board-icebreaker: setup ## the image of a board, in build/images: synthesis, place and route, bitstream (docs/boards.md)
board-ulx3s board-ulx3s_large board-tangnano20k: setup-area
board-arty_a7 board-pynq_z2 board-zcu104: setup ## the list of files of a board for Vivado, in build/images, and the command that takes it
board-hx8k board-icebreaker board-ulx3s board-ulx3s_large board-tangnano20k board-arty_a7 board-pynq_z2 board-zcu104:
	@$(PYTHON) synth/image.py $(@:board-%=%)

compare: build ## SCALE-Sim beside explore (docs/explore.md), our exports and others' workloads read by ZigZag, HWComponents and SCALE-Sim, in environments of their own
	@test -x $(BUILD)/scalesim/bin/python || python3 -m venv $(BUILD)/scalesim
	@$(BUILD)/scalesim/bin/pip install --quiet --require-hashes -r power/compare/requirements.lock
	@$(PYTHON) power/compare/scalesim.py --scalesim $(BUILD)/scalesim/bin/python --program $(BUILD)/bin/narrowgauge --check
	@test -x $(BUILD)/exports/bin/python || python3 -m venv $(BUILD)/exports
	@$(BUILD)/exports/bin/pip install --quiet --require-hashes -r power/compare/requirements-exports.lock
	@$(PYTHON) power/compare/exports.py --zigzag $(BUILD)/exports/bin/python --program $(BUILD)/bin/narrowgauge
	@PYTHONPATH=$(BUILD)/python:$(PYTHONPATH) $(PYTHON) power/compare/workloads.py --scalesim $(BUILD)/scalesim/bin/python --zigzag $(BUILD)/exports/bin/python
	@if $(BUILD)/exports/bin/pip install --quiet --require-hashes -r power/compare/requirements-components.lock; then \
	  $(PYTHON) power/compare/exports.py --hwcomponents $(BUILD)/exports/bin/python --program $(BUILD)/bin/narrowgauge; \
	else echo "skipped: HWComponents needs Python 3.12"; fi

PYTHON312 ?= python3.12
sram: setup ## SRAM by size and port again, from CACTI (docs/energy.md), in an environment of its own (Python 3.12, make and g++; ten minutes)
	@test -x $(BUILD)/cacti/bin/python || $(PYTHON312) -m venv $(BUILD)/cacti
	@$(BUILD)/cacti/bin/pip install --quiet --require-hashes -r power/sram/requirements.lock
	@$(PYTHON) power/sram/cacti.py --cacti $(BUILD)/cacti/bin/python --kept $(BUILD)/cacti/answers.jsonl

ladder: build ## the error ladder: how far each rung of the energy gauge is off, on units held out from its fit
	@$(PYTHON) tools/ngtools/power/ladder.py

power: build ## energy of every unit again: netlists, power/records, calibrations and their pages (hours)
	@for technology in osu018 osu035 osu050; do $(PYTHON) tools/ngtools/power/characterize.py --record --technology $$technology --programs $(BUILD)/bin || exit; done
	@$(PYTHON) tools/ngtools/power/fit.py --record --technology osu018,osu035,osu050 --programs $(BUILD)/bin
	@$(PYTHON) tools/ngtools/power/ladder.py --doc
	@$(PYTHON) power/pann/table.py --doc --program $(BUILD)/bin/ng_pann_flips
	@$(PYTHON) tools/ngtools/power/characterize.py --units-file power/cuts/units.json --record --records power/cuts/records --programs $(BUILD)/bin
	@$(PYTHON) power/cuts/table.py --doc

generate: setup ## everything that follows from the units' records, the format table and the registers
	@$(PYTHON) tools/gen_formats.py
	@$(PYTHON) tools/gen_registers.py
	@$(PYTHON) tools/ngtools/generate.py
	@$(PYTHON) synth/area_page.py
	@$(PYTHON) tools/ngtools/dependencies.py

formats: ## the package, the C++ table and the manual's page from model/formats.json
	@python3 tools/gen_formats.py

traces: configure ## the traces of the manual's timing diagrams, from simulations
	@cmake --build $(BUILD) -j $(JOBS) --target traces

pictures: setup ## the manual's pictures from their sources, docs/pictures
	@$(PYTHON) tools/ngtools/pictures.py

site: setup ## the manual with a search, in build/site
	@$(PYTHON) tools/ngtools/site.py $(BUILD)/site

screenshots: site ## README, pictures and pages of the site as a laptop and a telephone show them, in build/screenshots (needs Chromium)
	@$(PYTHON) tools/ngtools/screenshots.py $(BUILD)/site $(BUILD)/screenshots

style: setup ## check formatting and lint of C++ and Python, and look for defects in what changed (clang-tidy; tools/style.sh --tidy-all: in everything)
	@tools/style.sh --tidy

clean: ## remove what was built (not .venv)
	rm -rf $(BUILD) build-model build-sanitize
