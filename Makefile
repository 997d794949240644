# FleetBLAST: what a developer or a build machine runs. Users need only `make build`.

CARGO   ?= cargo
TARGET  := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
DIFFTEST = $(TARGET)/release/difftest
SECONDS ?= 600
SEED    ?= 1
COUNT   ?= 200
# Which cases stand for the whole table in `make test`: the same ones until a table changes.
SAMPLE  ?= $(firstword $(shell cat crates/difftest/cases/*.tsv crates/difftest/cases/*/* | cksum))

# With MPI where its compiler wrapper is found, and libclang, which reads its header. `make build MPICC=` does without.
MPICC   ?= mpicc
# (libclang-cpp, which other packages bring, is another library.)
LIBCLANG = $(or $(LIBCLANG_PATH),$(wildcard $(foreach dir,/usr/lib/llvm-*/lib /usr/lib64 /usr/lib/*,$(addprefix $(dir)/,libclang.so* libclang-[0-9]*.so*))))
ifneq ($(and $(MPICC),$(shell command -v $(MPICC)),$(LIBCLANG)),)
  MPI := --features mpi
  # The same for the whole workspace, whose dependencies then keep their features, and are compiled once.
  ALL_MPI := --features fleetblast-cli/mpi,fleetblast-mpi/mpi
  export MPICC
endif

# With a fresh HOME, rustup no longer finds the toolchains installed beside the cargo in PATH.
ifeq ($(RUSTUP_HOME)$(wildcard $(HOME)/.rustup),)
  RUSTUP_BESIDE := $(wildcard $(abspath $(dir $(shell command -v cargo))../../.rustup))
  ifneq ($(RUSTUP_BESIDE),)
    export RUSTUP_HOME := $(RUSTUP_BESIDE)
  endif
endif

.PHONY: build tools demo lint lint-text lint-code test test-programs test-build test-black-box test-units test-doc test-table test-other-sample test-release test-makedb test-kills test-mpi test-netlab test-nfs test-mpich test-aarch64 test-slurm test-clients test-readers \
        difftest difftest-db difftest-full difftest-kernels difftest-mpi difftest-releases difftest-resume difftest-metadata link-kills miri fuzzdiff kills fuzz \
        bench bench-full bench-single bench-fleet bench-peers bench-blastn bench-psiblast bench-translated bench-load clean-difftest

## build: the release program, target/release/fleetblast
build:
	$(CARGO) build --release --locked -p fleetblast-cli $(MPI)
	@echo "built $(if $(MPI),with MPI ($(MPICC)),without MPI: no $(or $(MPICC),mpicc) or no libclang)"

include scripts/install.mk

# The differential tester beside the release program.
tools: build
	$(CARGO) build --release --locked -p fleetblast-difftest

## demo: search real proteins and DNA, compare with BLAST+, kill and resume a job over MPI; four minutes
demo:
	scripts/demo.sh

## test: unit and black-box tests, and a part of a covering sample of the differential tables against BLAST+ (SAMPLE=seed)
test:
	scripts/setup.sh mpi
	$(MAKE) --no-print-directory test-programs

# Another make, which sees the MPI that has just been installed. Everything is compiled once, in one profile and with one set
# of features; then tests that wait and tests that compute run side by side, each with its output in one piece. The black boxes,
# which mostly wait, are the longest way and begin first.
test-programs: export NOT_TESTED = $(abspath $(TARGET))/not-tested
test-programs: test-build
	@: >$(NOT_TESTED)
	$(if $(MPI),,@echo "NOT TESTED: processes; this build is without MPI" >>$(NOT_TESTED))
	$(MAKE) --no-print-directory --jobs=3 --output-sync=target test-black-box test-kills test-units test-table test-makedb test-doc
	@echo "all tests passed; the table's sample was that of SAMPLE=$(SAMPLE); not tested: $$(sort -u $(NOT_TESTED) | wc -l)"
	@sort -u $(NOT_TESTED)

# A suite that hangs fails, and names the tests that did not end.
LIMITED = scripts/limited.sh

test-build:
	$(CARGO) test --locked --workspace $(ALL_MPI) --no-run

SUITES = FLEETBLAST_SAMPLE=$(SAMPLE) $(LIMITED) $(CARGO) test --locked --workspace $(ALL_MPI)
# More of them than there are processors, since they wait for processes.
test-black-box:
	RUST_TEST_THREADS=4 $(SUITES) --no-fail-fast --test 'b*'

# All others. (Not by --bins, which would take the fuzz targets.)
test-units:
	$(SUITES) --no-fail-fast --lib --bin fleetblast --bin difftest --test '[!b]*'

test-doc:
	$(SUITES) --doc

# One part of the sample for each way to search.
TESTED = $(TARGET)/debug/difftest
TESTED_TABLE = $(LIMITED) $(TESTED) table --program $(TARGET)/debug/fleetblast --quick --sample $(SAMPLE)
test-table:
	$(TESTED_TABLE) --part 1/10
	FLEETBLAST_KERNEL=avx2 $(TESTED_TABLE) --part 1/48
	FLEETBLAST_KERNEL=portable $(TESTED_TABLE) --part 4/48
	$(TESTED_TABLE) --ranks --part 2/24
	$(TESTED_TABLE) --resume --part 3/32
	$(TESTED_TABLE) --through oids --part 5/48
	$(TESTED_TABLE) --through hits --part 8/48
	$(TESTED_TABLE) --through hits --ranks --part 10/48
	$(TESTED_TABLE) --through oids --ranks --part 4/48
	$(TESTED_TABLE) --through report --part 11/48
	$(TESTED_TABLE) psiblast --through report --ranks --part 5/48
	$(TESTED_TABLE) --through hits --io --part 7/48
	$(TESTED_TABLE) --through oids --io --part 1/48
	$(TESTED_TABLE) --through auto --ranks --part 2/48
	$(TESTED_TABLE) --through auto --io --part 3/48
	$(TESTED_TABLE) --formatter --part 9/48
	$(if $(MPI),$(TESTED_TABLE) --mpi --part 3/64)
	$(if $(MPI),$(TESTED_TABLE) --mpi --resume --part 6/96)

# A part of another sample: what CI adds, with the date as SAMPLE.
test-other-sample: test-build
	$(TESTED_TABLE) --part 1/16
	$(TESTED_TABLE) --ranks --part 1/64
	$(TESTED_TABLE) --through hits --part 5/64

# A part of the sample with the rules of a later release, whose BLAST+ is downloaded.
test-release: test-build
	scripts/oracle-release.sh 2.16.0 $(TARGET)/oracle-2.16.0
	$(TESTED_TABLE) --part 1/24 --release 2.16.0 --oracle $(TARGET)/oracle-2.16.0/bin

test-makedb:
	$(TESTED) usage --program $(TARGET)/debug/fleetblast
	$(LIMITED) $(TESTED) makedb --program $(TARGET)/debug/fleetblast --quick

# Two programs of six, which SAMPLE chooses. `make kills` kills all.
PROGRAMS = blastp blastn psiblast blastx tblastn tblastx
KILLED = $(foreach first,1 4,$(word $(shell expr $(SAMPLE) % 3 + $(first)),$(PROGRAMS)))
TESTED_KILLS = $(TESTED) kills --program $(TARGET)/debug/fleetblast --quick $(if $(MPI),--mpi)
test-kills:
	set -e; for program in $(KILLED); do \
	    $(LIMITED) $(TESTED_KILLS) --count 4 --seed $(SAMPLE) $$program; \
	done

## difftest: the whole differential table
difftest: tools
	$(DIFFTEST) table

## difftest-kernels: the whole table with lesser vector instructions than this processor has
difftest-kernels: tools
	FLEETBLAST_KERNEL=avx2 $(DIFFTEST) table
	FLEETBLAST_KERNEL=portable $(DIFFTEST) table

## difftest-db: databases, aliases and masks made and read, against makeblastdb, blastdbcmd, blastdb_aliastool, blastdbcheck, segmasker, dustmasker and convert2blastmask (needs the nucleotide data)
difftest-db: tools
	$(DIFFTEST) makedb
	$(DIFFTEST) dbcmd
	$(DIFFTEST) aliastool
	$(DIFFTEST) dbcheck
	$(DIFFTEST) masker

## difftest-full: all queries against all of the data in every format
difftest-full: tools
	$(DIFFTEST) full

## difftest-mpi: the quick table on ranks in one process, then on processes, in many shapes
difftest-mpi: tools
	$(DIFFTEST) table --quick --ranks
	$(if $(MPI),$(DIFFTEST) table --quick --mpi,@echo "NOT TESTED: processes; this build is without MPI")

## difftest-releases: the quick tables with the rules of each later release, against its BLAST+ (needs Debian's apt-get)
difftest-releases: tools
	set -e; for release in 2.16.0 2.17.0; do \
	    scripts/oracle-release.sh $$release $(TARGET)/oracle-$$release; \
	    for table in 'table --quick' usage dbcmd aliastool 'makedb --quick' dbcheck masker; do \
	        $(DIFFTEST) $$table --release $$release --oracle $(TARGET)/oracle-$$release/bin; \
	    done; \
	done

## difftest-resume: the quick table, each search interrupted and resumed
difftest-resume: tools
	$(DIFFTEST) table --quick --ranks --resume

## difftest-metadata: the quick table, each report made at another site of metadata of each kind, which one process or ranks wrote
difftest-metadata: tools
	for kind in oids hits report auto; do $(DIFFTEST) table --quick --through $$kind && $(DIFFTEST) table --quick --ranks --through $$kind || exit 1; done
	for kind in oids hits report auto; do $(DIFFTEST) table --quick --through $$kind --io || exit 1; done

## link-kills: search, receiver and link of a report at another site killed 30 times in all
link-kills: build
	scripts/link-kills.py 30

## test-mpi: the module on MPI, with every MPI library there is; processes that load a database together, and that differ
test-mpi:
	crates/mpi/tests/run.sh
	$(if $(MPI),$(CARGO) test --locked --workspace $(ALL_MPI) --test black_box -- broadcast:: fleet_views:: fleet_bad_query::,@echo "NOT TESTED: processes; this build is without MPI")

## test-netlab: five hosts in network namespaces; one that vanishes, slow links, loading together (root; setup.sh netlab)
test-netlab: build
	scripts/netlab/run.sh

## test-nfs: four hosts write a report over NFS, 50 times for each way to mount (root; setup.sh nfs; RUNS=50, some ten seconds each; MODES="vers=3 vers=4.2")
test-nfs: build
	scripts/test-nfs.sh

## test-mpich: the module and the program on MPICH (setup.sh mpich)
test-mpich:
	scripts/test-mpich.sh

## test-aarch64: the NEON kernels under QEMU: the engine's unit tests, a part of the table (says what it needs)
test-aarch64:
	scripts/test-aarch64.sh

## test-slurm: a job that a batch system ends and starts again (root; setup.sh slurm; ten minutes)
test-slurm: build
	scripts/test-slurm.sh

## test-clients: real programs that call BLAST+, with it and with FleetBLAST by its names (setup.sh clients)
test-clients: build
	scripts/clients.sh

## test-readers: other programs read the reports as they read those of BLAST+ (setup.sh readers; five minutes)
test-readers: build
	scripts/readers.sh

## miri: unit tests of the crates with `unsafe` code under Miri and the address sanitizer (nightly)
miri:
	scripts/miri.sh

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

## bench-blastn: kinds of nucleotide searches, interleaved with BLAST+ (a quarter of an hour or more)
bench-blastn: tools
	$(DIFFTEST) bench --blastn

## bench-psiblast: searches in rounds, against BLAST+ (a quarter of an hour)
bench-psiblast: tools
	$(DIFFTEST) bench --psiblast

## bench-translated: searches of translated sequences, interleaved with BLAST+ (half an hour)
bench-translated: tools
	$(DIFFTEST) bench --translated

## bench-load: loading and searching from a cold disk (sets the read-ahead: on an idle machine only)
bench-load: tools
	$(DIFFTEST) load

# The same packages each time, since dependencies have the features that all of these ask for: others would be checked again.
# Nothing is linked here, so libFuzzer, which is C++, need not be compiled.
CLIPPY = CUSTOM_LIBFUZZER_PATH=/nowhere/libFuzzer.a $(CARGO) clippy --locked --workspace --all-targets
# The documentation is made from what clippy has checked, so that no crate is checked once more: with clippy's compiler and the
# arguments that `cargo clippy -- -D warnings` gives it, and with examples, since these take the features of what tests need.
CLIPPY_CHECKED = RUSTC_WORKSPACE_WRAPPER="$$(rustc --print sysroot)/bin/clippy-driver" \
                 CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
## lint: format, clippy and documentation, warnings are errors
lint:
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint-text lint-code

# Runs beside lint-code.
lint-text:
	$(CARGO) fmt --all --check
	scripts/check-rules.sh
	scripts/check-words-test
	scripts/check-words
	scripts/check-layers-test
	scripts/check-layers

lint-code:
	$(CLIPPY) $(ALL_MPI) -- -D warnings
	$(if $(MPI),$(CLIPPY) -- -D warnings)
	$(CLIPPY_CHECKED) RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace $(ALL_MPI) --no-deps \
	    --lib --bin fleetblast --bin difftest --examples

## fuzz: every cargo-fuzz target for FUZZ_SECONDS each (needs cargo-fuzz)
FUZZ_SECONDS ?= 60
fuzz:
	scripts/fuzz.sh $(FUZZ_SECONDS)

## clean-difftest: forget made databases, oracle results and kept differences
clean-difftest:
	rm -rf $(TARGET)/difftest $(TARGET)/difftest-big $(TARGET)/difftest-cache \
	       $(TARGET)/difftest-failed $(TARGET)/fuzzdiff
