# SPDX-License-Identifier: MIT
# The two commands of the README, and shorthands. The build itself is CMakeLists.txt.
JOBS ?= $(shell nproc)
BUILD = build/release

.PHONY: all demo test test-stops check tsan lint ci bench install clean setup

all: setup
	@cmake --preset release >/dev/null
	@cmake --build $(BUILD) -j $(JOBS)

demo: all
	@demo/run.sh $(BUILD)/rela

test: all
	@cd $(BUILD) && ctest -j $(JOBS) --output-on-failure -LE lint

# More stops of training than e2e.train-resume has time for.
STOPS ?= 100
SEED ?= 1
test-stops: all
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	    cd "$$dir" && RELA=$(CURDIR)/$(BUILD)/rela sh $(CURDIR)/tests/e2e/train-resume/stops.sh $(STOPS) $(SEED)

# The same tests under the address and undefined behaviour sanitizers.
check: setup
	@cmake --preset dev >/dev/null
	@cmake --build build/dev -j $(JOBS)
	@cd build/dev && ctest -j $(JOBS) --output-on-failure -LE lint

tsan: setup
	@cmake --preset tsan >/dev/null
	@cmake --build build/tsan -j $(JOBS)
	@cd build/tsan && ctest -j $(JOBS) --output-on-failure -L unit

lint: all
	@tools/setup lint
	@cd $(BUILD) && ctest -j $(JOBS) --output-on-failure -L lint

ci: test lint

bench: all
	@bench/run.sh $(BUILD)

install: all
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

clean:
	@rm -rf build

setup:
	@tools/setup
