# FleetBLAST: what a developer or a build machine runs. Users need only `make build`.

CARGO   ?= cargo
TARGET  := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
DIFFTEST = $(TARGET)/release/difftest
SECONDS ?= 600
SEED    ?= 1
COUNT   ?= 200

# With MPI where its compiler wrapper is found, and libclang, which reads its header. `make build MPICC=` does without.
MPICC   ?= mpicc
# (libclang-cpp, which other packages bring, is another library.)
LIBCLANG = $(or $(LIBCLANG_PATH),$(wildcard $(foreach dir,/usr/lib/llvm-*/lib /usr/lib64 /usr/lib/*,$(addprefix $(dir)/,libclang.so* libclang-[0-9]*.so*))))
ifneq ($(and $(MPICC),$(shell command -v $(MPICC)),$(LIBCLANG)),)
  MPI := --features mpi
  export MPICC
endif

# With a fresh HOME, rustup no longer finds the toolchains installed beside the cargo in PATH.
ifeq ($(RUSTUP_HOME)$(wildcard $(HOME)/.rustup),)
  RUSTUP_BESIDE := $(wildcard $(abspath $(dir $(shell command -v cargo))../../.rustup))
  ifneq ($(RUSTUP_BESIDE),)
    export RUSTUP_HOME := $(RUSTUP_BESIDE)
  endif
endif

.PHONY: build tools demo test test-processes difftest difftest-db difftest-full difftest-kernels difftest-mpi test-mpi fuzzdiff kills bench bench-full bench-single bench-fleet bench-peers bench-load lint \
        fuzz clean-difftest

## build: the release program, target/release/fleetblast
build:
	$(CARGO) build --release --locked -p fleetblast-cli $(MPI)
	@echo "built $(if $(MPI),with MPI ($(MPICC)),without MPI: no $(or $(MPICC),mpicc) or no libclang)"

# The differential tester beside the release program.
tools: build
	$(CARGO) build --release --locked -p fleetblast-difftest

## demo: install what is needed, build, and search real proteins
demo:
	scripts/demo.sh

## test: unit and black-box tests, then the quick differential tables against BLAST+
test:
	scripts/setup.sh mpi
	$(MAKE) --no-print-directory tools
	$(CARGO) test --locked --workspace
	$(DIFFTEST) table --quick
	$(DIFFTEST) table --quick --ranks --filter text
	$(DIFFTEST) makedb --quick
	$(MAKE) --no-print-directory test-processes

# Ranks as processes, by the MPI that was found or has just been installed.
test-processes:
ifdef MPI
	$(DIFFTEST) table --quick --mpi --filter text
	$(DIFFTEST) kills --mpi --count 8
else
	@echo "NOT TESTED: processes; this build is without MPI"
endif

## difftest: the whole differential table
difftest: tools
	$(DIFFTEST) table

## difftest-kernels: the whole table with lesser vector instructions than this processor has
difftest-kernels: tools
	FLEETBLAST_KERNEL=avx2 $(DIFFTEST) table
	FLEETBLAST_KERNEL=portable $(DIFFTEST) table

## difftest-db: databases made and read, against makeblastdb and blastdbcmd (needs the nucleotide data)
difftest-db: tools
	$(DIFFTEST) makedb
	$(DIFFTEST) dbcmd

## difftest-full: all queries against the largest database in five formats
difftest-full: tools
	$(DIFFTEST) full

## difftest-mpi: the quick table on ranks in one process, then on processes, in many shapes
difftest-mpi: tools
	$(DIFFTEST) table --quick --ranks
	$(if $(MPI),$(DIFFTEST) table --quick --mpi,@echo "NOT TESTED: processes; this build is without MPI")

## test-mpi: the module on MPI, with every MPI library there is; processes that load a database together, and that differ
test-mpi:
	crates/mpi/tests/run.sh
	$(if $(MPI),$(CARGO) test --locked -p fleetblast-cli --features mpi --test broadcast --test fleet_views --test fleet_bad_query,@echo "NOT TESTED: processes; this build is without MPI")

## fuzzdiff: random differential testing (SECONDS=600 SEED=1; SPREAD=--ranks or --mpi)
fuzzdiff: tools
	$(DIFFTEST) fuzz --seconds $(SECONDS) --seed $(SEED) $(SPREAD)

## kills: searches killed COUNT times at random, one rank or all, and resumed (COUNT=200 SEED=1)
kills: tools
	$(DIFFTEST) kills --count $(COUNT) --seed $(SEED) $(if $(MPI),--mpi)

## bench: interleaved timing against BLAST+, below five minutes
bench: tools
	$(DIFFTEST) bench

## bench-full: the same with all queries
bench-full: tools
	$(DIFFTEST) bench --full

## bench-single: the same with one query
bench-single: tools
	$(DIFFTEST) bench --single

## bench-fleet: what ranks cost and gain
bench-fleet: tools
	$(DIFFTEST) bench --fleet

## bench-peers: DIAMOND and MMseqs2 beside it, what they take and what they find
bench-peers: tools
	scripts/setup.sh peers
	$(DIFFTEST) bench --peers

## bench-load: loading and searching from a cold disk (sets the read-ahead: on an idle machine only)
bench-load: tools
	$(DIFFTEST) load

## lint: format, clippy and documentation, warnings are errors
lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(if $(MPI),$(CARGO) clippy --locked -p fleetblast-cli -p fleetblast-mpi --features mpi --all-targets -- -D warnings)
	$(CARGO) check --locked --manifest-path fuzz/Cargo.toml
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps

## fuzz: every cargo-fuzz target for FUZZ_SECONDS each (needs cargo-fuzz)
FUZZ_SECONDS ?= 60
fuzz:
	scripts/fuzz.sh $(FUZZ_SECONDS)

## clean-difftest: forget made databases, oracle results and kept differences
clean-difftest:
	rm -rf $(TARGET)/difftest $(TARGET)/difftest-big $(TARGET)/difftest-cache \
	       $(TARGET)/difftest-failed $(TARGET)/fuzzdiff
