# Everything that a user or developer starts. `make help` lists it; docs/how-to/install.md and docs/dev/testing.md explain it.
# The work is in setup/ and in CMake; variables such as MPICC=... or PRESET=... reach them through the environment.

PRESET ?= release
export PRESET

build := build/$(PRESET)
programs := dat2nc dwrite_eval e3sm_io h5perf seism-core-check seism-core-slice seism-read slabmark slice_eval
sources = $(shell find src tests studies plugins -name '*.[ch]pp' -o -name '*.[ch]' 2>/dev/null)

.NOTPARALLEL:
.PHONY: all demo check-slice check-pnetcdf check-h5py cluster results test test-all coverage install test-installed bare docs deb dist matrix $(programs) format check-format lint clean distclean help

# Those that are built, in the top folder too, where the users of the originals look for them.
link = $(foreach program,$(1),[ ! -e $(build)/bin/$(program) ] || ln -sfn $(build)/bin/$(program) $(program);)

all:
	@setup/build build all
	@$(call link,$(programs))

$(programs):
	@setup/build build $@
	@$(call link,$@)

demo:
	@setup/build build shown
	@$(call link,$(programs))
	@. $(build)/environment.sh && demo/run

check-slice: seism-core-slice seism-core-check
	@. $(build)/environment.sh && demo/check-slice

test:
	@setup/test fast

test-all:
	@setup/test fast long

coverage:
	@setup/coverage

install: all
	@setup/install

test-installed: all
	@setup/test-installed

bare:
	@setup/bare

deb:
	@setup/deb

dist:
	@setup/dist

matrix:
	@setup/matrix

docs: all
	@. $(build)/environment.sh && setup/docs

# PNETCDF_SOURCE names the unpacked source of the PnetCDF that is installed (Debian: apt-get source pnetcdf).
check-pnetcdf:
	@setup/build build slabmark_pnetcdf
	@tests/pnetcdf_own/compare "$(PNETCDF_SOURCE)" $(build)/lib/libslabmark_pnetcdf.so

# h5py's own tests, through the connector.
check-h5py:
	@setup/build test slablog h5py
	@tests/h5py_own/compare $(build)/h5py/python $(build)/plugins

cluster:
	@tests/cluster/run

# Measures what README and docs state (docs/dev/results.md). CHECK=1 and LIST=1 measure nothing, and need nothing built.
results: $(if $(CHECK)$(LIST),,all)
	@[ -n "$(CHECK)$(LIST)" ] || . $(build)/environment.sh; \
	setup/python studies/results/results $(if $(CHECK),--check) $(if $(LIST),--list) $(if $(ALL),--all) $(if $(TINY),--tiny) \
	  $(if $(UPDATE),--update) $(if $(ONLY),--only "$(ONLY)") $(if $(MACHINE),--machine "$(MACHINE)") $(if $(DIRECTORY),--directory "$(DIRECTORY)")

format:
	@clang-format -i $(sources)

check-format:
	@clang-format --dry-run -Werror $(sources)

lint:
	@setup/lint

clean:
	rm -rf build $(programs)

distclean: clean
	rm -rf demo/results datasets/*.nc
	@echo "HDF5 and the Python environment stay for other checkouts in $${SLABMARK_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/slabmark}"

help:
	@echo 'make                 build all programs, in build/$(PRESET)/bin and linked here'
	@echo 'make e3sm_io         build one program: $(programs)'
	@echo '                     (slabmark: the command with all of its verbs)'
	@echo 'make demo            build, and see the work of five benchmarks timed on 4 ranks, with a report'
	@echo 'make check-slice     build, write the default test set of seism-core-slice on 8 ranks (900 MiB), and check it'
	@echo 'make check-pnetcdf   build the drop-in, and run the test programs of the PnetCDF source PNETCDF_SOURCE=... with it'
	@echo 'make check-h5py      build the connector and an h5py for it, and run the tests of h5py with it'
	@echo 'make test            build, and run the tests to run before a commit: all modules, and one pass of each program'
	@echo 'make test-all        build, and run all tests, those of the connector also with sanitizers'
	@echo 'make coverage        build apart, run all tests, and print which share of each module they come to'
	@echo 'make install PREFIX=  all of it under a prefix, which may be moved (docs/how-to/install.md)'
	@echo 'make test-installed  build, install, move, and run all of it as another user with build and cache gone'
	@echo 'make cluster         build, and run tests between nodes that are namespaces of this machine, as root (docs/dev/cluster.md)'
	@echo 'make results         measure the numbers that README and docs state, and compare them (docs/dev/results.md); CHECK=1 measures nothing'
	@echo 'make bare            the two commands of the README in fresh Debian roots, as root, and what they say without root'
	@echo 'make deb             Debian packages in build/deb, tried in an empty root'
	@echo 'make dist            the source archive, the wheel of the lab and the Debian packages of a release, in build/dist, with checksums'
	@echo 'make matrix          all tests with each MPI, HDF5, PnetCDF and compiler of a table (docs/dev/testing.md)'
	@echo 'make docs            the documentation as a site that opens offline, in build/site, with all options of each program'
	@echo 'make format          clang-format; make check-format only looks'
	@echo 'make lint            clang-format, ruff, mypy and reuse, in pinned versions; clang-tidy on sources that changed'
	@echo 'make clean           remove what was built; make distclean also what demo made'
	@echo
	@echo 'PRESET=release|debug|asan|tsan   JOBS=n   WERROR=1'
	@echo 'MPICC=... MPIEXEC=... CC=... CXX=... HDF5_ROOT=... HDF5_SOURCE=... PNETCDF_DIR=... NETCDF_DIR=... name what to build with'
	@echo 'docs/how-to/install.md explains them; docs/dev/testing.md those that test'
