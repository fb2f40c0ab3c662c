# The front door. Each target is a script of scripts/ that says what it does; nothing here needs set-up done by hand.
SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help setup build fetch reproduce peers report counters test test-gpu minizinc test-minizinc compare submit regress sanitize fuzz format clean python

# What a command may be given: make reproduce PROFILE=full EXPERIMENTS=system/name RESULTS=/tmp/results. SYSTEMS reaches the scripts as it
# is given; exported here it would be empty where it is not.
export PROFILE EXPERIMENTS RESULTS PRESET BUILD JOBS BASELINE MACHINE MINUTES READERS FUZZ_CXX PEERS
export LAUNCH SHARDS HOSTS SLOTS CORES GRES SBATCH_ARGS

help:  ## This list
	@echo "vicinity: GPU local search, reproduced and measured. The two commands: make reproduce, make test"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "Every command takes SYSTEMS=\"FOLDER ...\": systems of your own beside those here (make test: examples/one-max)."

reproduce: $(if $(LAUNCH),setup)  ## Run the experiments on this machine and write the report [PROFILE=quick|full|smoke EXPERIMENTS="system/name ..." RESULTS=results MACHINE=name LAUNCH=slurm|parallel|gpus]
	@scripts/reproduce

peers: setup  ## Solvers of others on the anytime experiments, beside our records [PEERS="py_vrp ..." EXPERIMENTS=... PROFILE=quick]
	@scripts/peers

test:  ## Everything that can be tested on this machine: formatting, build, ctest, pytest, a smoke reproduction
	@scripts/setup test
	@scripts/test

counters: build  ## On a GPU: what limits kernels, from hardware counters [EXPERIMENTS="system/name ..." WHERE="axis=value"]
	@scripts/counters

test-gpu:  ## On a GPU: gpu tests, twins, compute-sanitizer; writes results/<machine>/verification.json
	@scripts/test_gpu

minizinc: setup  ## The solver for MiniZinc, registered for this user: minizinc --solver vicinity
	@scripts/minizinc

test-minizinc: minizinc  ## MiniZinc's own solver tests against it: MINIZINC_TESTS=folder of libminizinc's tests
	@scripts/test_minizinc

report: python  ## The report from recorded results, without building or running anything [MACHINE=name RESULTS=results BESIDE=results]
	@scripts/report

compare: python  ## Two recorded machines against each other: A=results/x B=results/y
	@scripts/compare "$(A)" "$(B)"

submit: python  ## A machine's records, checked and packed for a pull request: MACHINE=name [RESULTS=results]
	@scripts/submit

regress: setup  ## Is this tree slower than BASELINE (git ref, vicinity binary or results/x)? [ARGS="--profile quick"]
	@scripts/regress $(ARGS)

fetch: setup  ## Instance files that no generator makes, from their collections, into data/instances/ [ARGS="NAME ..."]
	@scripts/fetch $(ARGS)

build: setup  ## build/vicinity and the tests [PRESET=release|cpu-only|debug|ci JOBS=n]
	@scripts/build

sanitize: setup  ## Host code under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/sanitize

fuzz:  ## Every reader under libFuzzer and AddressSanitizer; needs Clang [MINUTES=60 in all, READERS="qaplib ..."]
	@scripts/fuzz

format: setup  ## Format all C++, CUDA and Python sources in place
	@scripts/format

python:
	@scripts/setup python

setup:  ## System packages (apt when root) and .venv; done once, then nothing
	@scripts/setup

clean:  ## Remove build folders (recorded results and .venv stay)
	rm -rf build build-*
