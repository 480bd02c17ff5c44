# Everything one does with this repository. `make` alone lists it.

PREFIX  ?= /usr/local
DESTDIR ?=
RANKS   ?= 16
BENCH   ?=

CARGO   := tools/cargo.sh
RELEASE := $(or $(CARGO_TARGET_DIR),target)/release
SHIMS   := $(RELEASE)/lib/evenkeel
TOOLS   := build/venv-tools/bin

# Where the tests of `make test-programs` are.
PROGRAMS := tests tools bench --ignore tests/nodes --ignore tests/rig --ignore tests/browser

# Directories that the virtual hosts of demo-nodes see too, even if they lie in /tmp.
SHARE   := --share $(abspath $(RELEASE)) --share $(abspath build)

# Runs programs that were compiled for another machine.
EMULATOR :=

.PHONY: help build shims demo demo-nodes test bench bench-nodes bench-launch clean lint
.PHONY: install install-files uninstall
.PHONY: test-nodes test-rust test-loom test-tsan test-web test-browser test-programs test-mpi4py
.PHONY: third-party wheel wheel-aarch64 test-wheel test-wheel-aarch64 deb test-deb rpm test-rpm test-container packages test-packages
.PHONY: deps-build deps-test deps-demo deps-bench deps-nodes deps-lint deps-browser deps-wheel deps-wheel-aarch64 deps-deb deps-rpm
.PHONY: deps-container

help:
	@echo 'make demo                 install what is missing, build, and run hpcc with and without evenkeel'
	@echo 'make demo-nodes           the same on 4 virtual hosts: network, UTS, IPC and mount namespaces'
	@echo 'make test                 install what is missing, build, and test everything'
	@echo 'make lint                 check formatting, lints, spelling, words and links;'
	@echo '                          tools/lint/run.sh --fix applies the formatters and the safe fixes first'
	@echo 'make bench                measure evenkeel and every installed MPI library (bench/results/);'
	@echo '                          make bench BENCH=--quick takes three minutes and is less exact'
	@echo 'make bench-launch         how long starting takes, beside other launchers (docs/src/launching-results.md)'
	@echo 'make bench-nodes          measure on 2 to 8 virtual hosts (bench/results/nodes/)'
	@echo 'make build                build target/release/evenkeel, which can run without being installed'
	@echo 'make install PREFIX=/usr/local'
	@echo '                          install the program, shims, manual pages and completions;'
	@echo '                          make uninstall with the same PREFIX removes them'
	@echo 'make wheel                build dist/evenkeel-*.whl for glibc 2.28 and later'
	@echo 'make wheel-aarch64        the same for 64-bit ARM'
	@echo 'make test-wheel           the same, then install it on bare Debian 11 to 13 and run programs there'
	@echo 'make deb                  build dist/evenkeel_*.deb, judged by lintian'
	@echo 'make test-deb             the same, then install it on a bare Debian, run programs there, and remove it'
	@echo 'make rpm, make test-rpm   the same for RPM packages, which are tried in a directory of their own'
	@echo 'make test-container       build the image of packages/container/Dockerfile and run programs in it'
	@echo 'make clean                remove what was built'

# Installs what is missing. With EVENKEEL_DEPS=none nothing is installed.
deps-build deps-test deps-demo deps-bench deps-nodes deps-lint deps-browser deps-wheel deps-wheel-aarch64 deps-deb deps-rpm deps-container: deps-%:
	@[ "$(EVENKEEL_DEPS)" = none ] || tools/install-deps.sh $*

build: deps-build
	$(CARGO) build --release --locked
	$(MAKE) shims third-party

# What is compiled from C, and the agent, which lies beside it.
shims:
	CC=$(CC) shims/build-shims.sh $(SHIMS) $(RELEASE)/libevenkeel_mpi.a $(RELEASE)/evenkeel-shim-generate
	$(CC) -O2 -Wall -shared -fPIC -o $(SHIMS)/evenkeel-one-session.so crates/cli/launcher/one_session.c
	install -m 755 $(RELEASE)/evenkeel-agent $(SHIMS)/

# The licence texts of the crates that are linked in: part of every package.
third-party:
	python3 packages/licences.py > $(RELEASE)/THIRD-PARTY

demo: deps-demo build
	python3 tools/demo.py --evenkeel $(RELEASE)/evenkeel --ranks $(RANKS)

demo-nodes: deps-demo deps-nodes build
	tests/rig/run --hosts 4 $(SHARE) -- \
		python3 tools/demo.py --evenkeel $(RELEASE)/evenkeel --ranks 8 --runs 1 --directory build \
		--launcher-args '--host h0:2,h1:2,h2:2,h3:2'

bench: deps-bench build
	$(TOOLS)/python bench/run.py $(BENCH)

# Writes docs/src/launching-results.md; some six minutes.
bench-launch: deps-bench build
	$(TOOLS)/python bench/launching/study.py $(BENCH)

# make bench-nodes BENCH=--quick takes at most eight minutes.
bench-nodes: deps-bench deps-nodes build
	$(CARGO) build --release --locked -p evenkeel-primitives --example multicast
	$(TOOLS)/python bench/nodes/run.py $(BENCH)

# One after the other even with -j: the tests start many ranks, and the machine may be small.
test: deps-test deps-lint
	$(MAKE) lint
	$(MAKE) build
	$(MAKE) test-rust
	$(MAKE) test-loom
	$(MAKE) test-tsan
	$(MAKE) test-web
	$(MAKE) test-browser
	$(MAKE) test-programs
	$(MAKE) test-nodes

lint: deps-lint
	tools/lint/run.sh

test-rust:
	$(CARGO) test --locked --workspace

# The lock-free parts under the model checker loom, which needs all crates compiled with a flag of its own.
test-loom:
	RUSTFLAGS='--cfg loom' CARGO_TARGET_DIR=build/target-loom $(CARGO) test --locked --release -p evenkeel-segment

# The same parts among real threads, under ThreadSanitizer.
test-tsan:
	tools/test-tsan.sh

test-web:
	cd web && npm ci --silent --no-audit --no-fund && npm test --silent

# The pages of reports and of the book in Chromium, driven by Selenium. What is missing here is said, not tested.
test-browser: deps-browser
	@if [ -x build/venv-browser/bin/python ]; then build/venv-browser/bin/python -m pytest tests/browser; else \
		echo 'not tested here: pages in a browser, for which tools/install-deps.sh browser installs what is needed'; \
	fi

# Three tests at a time: most of them wait for launchers. Those that measure run alone. Of the tests marked
# `in_turn` each case runs under one or two of the MPI libraries; with EVENKEEL_TEST_ALL=1 under all of them.
test-programs:
	$(TOOLS)/python -m pytest -n 3 -m 'not alone' $(PROGRAMS)
	$(TOOLS)/python -m pytest -m alone $(PROGRAMS)

# Programs on virtual hosts, and the rig that makes the hosts. If the kernel grants no namespaces, these tests are
# skipped with a sentence that says what to do; with EVENKEEL_TEST_NODES=required they fail.
test-nodes: deps-nodes
	$(CARGO) build --release --locked -p evenkeel-primitives --example across_hosts --example multicast
	$(TOOLS)/python -m pytest tests/rig tests/nodes

# All of mpi4py's own tests, on 1, 2, 3 and 5 ranks. `make test` runs only those about collectives.
test-mpi4py: deps-test build
	EVENKEEL_TEST_MPI4PY=all $(TOOLS)/python -m pytest tests/test_mpi4py.py

install: build
	$(MAKE) install-files
	@echo 'evenkeel is in $(DESTDIR)$(PREFIX)/bin; try: evenkeel doctor'

install-files:
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/evenkeel $(DESTDIR)$(PREFIX)/share/man/man1
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -d $(DESTDIR)$(PREFIX)/share/zsh/site-functions
	install -d $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 755 $(RELEASE)/evenkeel $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(SHIMS)/* $(DESTDIR)$(PREFIX)/lib/evenkeel/
	install -m 755 $(SHIMS)/evenkeel-agent $(DESTDIR)$(PREFIX)/lib/evenkeel/
	install -d $(DESTDIR)$(PREFIX)/include
	install -m 644 $(RELEASE)/libevenkeel_primitives_c.so $(DESTDIR)$(PREFIX)/lib/
	install -m 644 crates/runtime/primitives-c/include/evenkeel_primitives.h $(DESTDIR)$(PREFIX)/include/
	install -d $(DESTDIR)$(PREFIX)/share/doc/evenkeel
	install -m 644 README.md CHANGELOG.md LICENSE $(RELEASE)/THIRD-PARTY $(DESTDIR)$(PREFIX)/share/doc/evenkeel/
	$(EMULATOR) $(RELEASE)/evenkeel man $(DESTDIR)$(PREFIX)/share/man/man1
	$(EMULATOR) $(RELEASE)/evenkeel completions bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/evenkeel
	$(EMULATOR) $(RELEASE)/evenkeel completions zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_evenkeel
	$(EMULATOR) $(RELEASE)/evenkeel completions fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/evenkeel.fish

# Removes the files that packages/files.txt lists, and directories of evenkeel that are then empty.
uninstall:
	cd $(DESTDIR)$(PREFIX) && rm -f $$(sed '/^#/d' $(CURDIR)/packages/files.txt)
	for directory in lib share/doc; do \
		rmdir --ignore-fail-on-non-empty $(DESTDIR)$(PREFIX)/$$directory/evenkeel; \
	done

wheel: deps-wheel
	build/venv-wheel/bin/python packages/wheel/make_wheel.py

wheel-aarch64: deps-wheel deps-wheel-aarch64
	build/venv-wheel/bin/python packages/wheel/make_wheel.py --machine aarch64

# On bare installations of Debian, made by debootstrap; needs root.
test-wheel: wheel
	packages/wheel/try-on-debian.sh dist/*_x86_64.whl

# The same for ARM, under qemu-user.
test-wheel-aarch64: wheel-aarch64
	packages/wheel/try-on-debian.sh dist/*_aarch64.whl bookworm

# Both compile in build/packages.
deb: deps-build deps-deb
	packages/debian/build.sh dist

test-deb: deb
	packages/debian/try.sh dist/evenkeel_*_amd64.deb dist/libevenkeel-primitives-dev_*_amd64.deb

rpm: deps-build deps-rpm
	packages/rpm/build.sh dist

test-rpm: rpm
	packages/rpm/try.sh dist/evenkeel-[0-9]*.x86_64.rpm dist/evenkeel-devel-*.x86_64.rpm

# An image by buildah; needs root.
test-container: deps-build deps-container
	packages/container/try.sh

packages: wheel deb rpm

# Takes half an hour on two cores.
test-packages:
	$(MAKE) test-wheel
	$(MAKE) test-deb
	$(MAKE) test-rpm
	$(MAKE) test-container

clean:
	rm -rf target build dist web/node_modules web/build
