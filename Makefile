# SPDX-License-Identifier: MIT
# The two commands of the README, and shorthands. The build itself is CMakeLists.txt.
JOBS ?= $(shell nproc)
BUILD = build/release

.PHONY: all arm64 program demo demo-model paper test test-gradients test-jobs test-levels test-library-memory test-limits \
    test-packages test-ranks test-signals test-slurm test-stops test-study test-torch check tsan lint ci bench install \
    wheel deb clean setup

all: setup
	@cmake --preset release >/dev/null
	@cmake --build $(BUILD) -j $(JOBS)

# The program alone, quietly.
program: setup
	@cmake --preset release >/dev/null
	@tools/build-quietly $(BUILD) $(JOBS) rela

demo: program
	@demo/run.sh $(BUILD)/rela

# The tables, figures and claims of the paper on the built-in corpus; a quarter of an hour. The last line is the report.
paper: program
	@$(BUILD)/rela study run studies/paper.yml --scale minutes --jobs $(JOBS)
	@$(BUILD)/rela study report studies/paper.yml --scale minutes

# build/release/demo.rela, which `make install` installs if it is there: then `rela translate demo` needs no training.
demo-model: program
	@demo/install-model.sh $(BUILD)/rela $(BUILD)

# The last lines say what was covered, and what was skipped and why.
test:
	@tools/setup test # before the build, which makes the module for MPI if MPI is there
	@$(MAKE) --no-print-directory all
	@rm -f $(BUILD)/covered.txt
	@cd $(BUILD) && { ctest -j $(JOBS) --output-on-failure -LE lint; status=$$?; \
	    $(CURDIR)/tools/test-summary . && exit $$status; }

# The Python module for PyTorch, against Debian's PyTorch or that of RELA_PYTHON.
test-torch: all
	@[ -n "$(RELA_PYTHON)" ] || tools/setup torch
	@cd $(BUILD) && ctest -C torch -L torch --output-on-failure --no-tests=error

# The tests that compute something, once per instruction-set level of this processor.
test-levels: all
	@tools/test-levels $(BUILD) $(JOBS)

# Gradients of mixtures of kinds with sentences on both sides of every length limit; ten minutes.
test-gradients: all
	@$(BUILD)/tests/test_mixtures_grad full

# Allocations inside libraries fail, 150 of each kind per command; make test takes four.
test-library-memory: all
	@RELA_LIBRARY_CALLS=150 RELA_SOURCE=$(CURDIR) RELA_BUILD=$(CURDIR)/$(BUILD) \
		tests/e2e/run-case $(CURDIR)/$(BUILD)/rela $(CURDIR)/tests/e2e/library_memory

# The commands that run a model under 300 limits of address space; make test takes a dozen.
test-limits: all
	@RELA_LIMITS=300 RELA_SOURCE=$(CURDIR) RELA_BUILD=$(CURDIR)/$(BUILD) \
		tests/e2e/run-case $(CURDIR)/$(BUILD)/rela $(CURDIR)/tests/e2e/limits

# Every way to install rela, in clean systems; METHODS="wheel deb" takes some of them. Needs root and minutes.
test-packages: wheel deb
	@tools/setup packages
	@JOBS=$(JOBS) tools/test-packages build/packages $(METHODS)

# More stops of training than e2e.train-resume has time for.
STOPS ?= 100
SEED ?= 1
ENDED ?= 40
test-stops: all
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	    cd "$$dir" && RELA=$(CURDIR)/$(BUILD)/rela sh $(CURDIR)/tests/e2e/train-resume/stops.sh $(STOPS) $(SEED)

# Signals at random moments on all long commands; an hour.
STOPPED ?= 20
test-signals: all
	@for long in '' 1; do dir=$$(mktemp -d) && (cd "$$dir" && LONG=$$long COPIES=40 UPDATES=60 RELA=$(CURDIR)/$(BUILD)/rela \
	    RELA_SOURCE=$(CURDIR) RELA_DATA=$${RELA_DATA:-$(CURDIR)/../shared/data} \
	    sh $(CURDIR)/tests/e2e/stops/table.sh $(STOPPED) $(SEED)); status=$$?; rm -rf "$$dir"; [ $$status -eq 0 ] || exit 1; \
	done

# Slurm on this machine: jobs that reach their time limit and queue themselves again. Needs root.
REQUEUED ?= 10
test-slurm: all
	@dir=$$(mktemp -d) && (cd "$$dir" && RELA=$(CURDIR)/$(BUILD)/rela RELA_SOURCE=$(CURDIR) \
	    sh $(CURDIR)/tests/e2e/slurm/requeue.sh $(REQUEUED)); status=$$?; rm -rf "$$dir"; exit $$status

# Several ranks: the bytes of one for every preset, 72 runs in which a rank is killed, stopped or ended, a link that goes down.
test-ranks:
	@tools/setup test # before the build, as for test
	@$(MAKE) --no-print-directory all
	@for script in ranks/matrix.sh ranks_faults/table.sh ranks_faults/network.sh; do \
	    dir=$$(mktemp -d) && (cd "$$dir" && RELA=$(CURDIR)/$(BUILD)/rela RELA_SOURCE=$(CURDIR) \
	    sh $(CURDIR)/tests/e2e/$$script); status=$$?; rm -rf "$$dir"; [ $$status -eq 0 ] || exit 1; \
	done

# Jobs on text that are ended at random moments and go on.
test-jobs:
	@tools/setup test # before the build, as for test
	@$(MAKE) --no-print-directory all
	@dir=$$(mktemp -d) && (cd "$$dir" && RELA=$(CURDIR)/$(BUILD)/rela RELA_SOURCE=$(CURDIR) \
	    sh $(CURDIR)/tests/e2e/ranks_jobs/table.sh $(ENDED) $(SEED)); status=$$?; rm -rf "$$dir"; exit $$status

# Studies: 20 kills, stops and moves; 200 jobs by every engine, Slurm too; a plan of 10,000 jobs. Some ten minutes.
test-study: all
	@for what in "study_stops STUDY_STOPS=20" "study_engines STUDY_SEEDS=40 STUDY_SLURM=1"; do \
	    set -- $$what && case=$$1 && shift && dir=$$(mktemp -d) && (cd "$$dir" && env "$$@" RELA=$(CURDIR)/$(BUILD)/rela \
	    RELA_SOURCE=$(CURDIR) sh $(CURDIR)/tests/e2e/$$case/run.sh); status=$$?; rm -rf "$$dir"; [ $$status -eq 0 ] || exit 1; done
	@bench/study.sh $(CURDIR)/$(BUILD)/rela

# The same tests under the address and undefined behaviour sanitizers.
check: setup
	@tools/setup test
	@cmake --preset dev >/dev/null
	@cmake --build build/dev -j $(JOBS)
	@cd build/dev && ctest -j $(JOBS) --output-on-failure -LE lint

# A cross build for arm64 and its tests in qemu, with and without int8 dot products.
arm64:
	@tools/setup arm64
	@cmake --preset arm64 --no-warn-unused-cli >/dev/null
	@cmake --build build/arm64 -j $(JOBS)
	@tools/test-arm64 build/arm64 $(JOBS)

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

# Only what is installed; tests and benchmarks are not needed for it.
install: setup
	@cmake --preset release >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target rela rela_static rela_shared generated_texts
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

# build/wheel/rela-*.whl: package, library and program for pip, on any distribution with a glibc as new as this one.
wheel:
	@tools/setup wheel
	@JOBS=$(JOBS) tools/wheel build/wheel

# build/deb/*.deb: program, library, development files, Python package.
deb:
	@tools/setup deb
	@JOBS=$(JOBS) tools/deb build/deb

clean:
	@rm -rf build

setup:
	@tools/setup
