# `make demo` runs the whole pipeline on an embedded dataset. `make compare` compares the demo's tables with the
# reference tables. `make test` runs the tests. Each target first installs missing packages into $(ENV), so targets work
# in any order. You need Python 3.11 or newer, pip, make and git, and nothing else.
PYTHON ?= python3
CORES  ?= 2
# `make env EXTRAS=baselines,tune` installs the extras baselines and tune in addition to workflow. KNOWN lists all
# extras.
EXTRAS ?=
# LOWEST=1 installs the oldest versions that pyproject.toml allows instead of the versions in constraints.txt.
LOWEST ?=
KNOWN  := text data serve test lint docs report baselines release tune slurm storage
# ENV is the folder of the environment. `ENV ?= .venv` would not work in shells that define a variable ENV.
ENV     = .venv
BIN    := $(CURDIR)/$(ENV)/bin
comma  := ,
LISTED := $(subst $(comma), ,$(EXTRAS))
$(foreach extra,$(filter-out $(KNOWN),$(LISTED)),$(error EXTRAS has $(extra); expected some of $(KNOWN), separated by commas))
CONSTRAINTS = $(if $(LOWEST),$(ENV)/lowest.txt,constraints.txt)
# pip compiles no modules to bytecode here, because many are never imported. A module is compiled at its first import.
# Containers that disable bytecode would compile each module in each process, so make enables bytecode.
export PYTHONDONTWRITEBYTECODE =
# The output of pip goes into a file. If pip fails, the last lines of its output are shown.
SAID = $(ENV)/install.log
PIP  = "$(BIN)/python" -m pip install --no-compile --disable-pip-version-check --constraint $(CONSTRAINTS) --editable
INSTALL = @echo 'Installing $(1) into $(ENV); pip writes to $(SAID)'; $(PIP) "$(1)" >$(SAID) 2>&1 || \
	{ tail -n 15 $(SAID); echo 'pip failed; all that it said: $(SAID)'; exit 1; }

TARGETS = env moved demo compare reference-tables reference accept five-seeds rehearsal report programs bits test test-all \
	bounds test-rest fuzz lint docs report-of-five-seeds release dist clean
.PHONY: $(TARGETS)
$(foreach target,$(filter-out $(TARGETS) $(ENV)/%,$(MAKECMDGOALS)),$(error found no target $(target); expected one of $(sort $(TARGETS))))
# Parallel installations into one environment would disturb each other, and the targets use all cores themselves.
.NOTPARALLEL:

env: $(ENV)/has-base $(LISTED:%=$(ENV)/has-%)

# The programs of an environment contain its path, so an environment is rebuilt if the project was copied or moved. The
# stamp of the environment contains the path of the project. If the stamp is empty, the environment is not rebuilt.
BUILT_IN = $(shell cat $(ENV)/has-base 2>/dev/null)
MOVED   := $(if $(findstring |$(BUILT_IN)|,||$(CURDIR)|),,moved)

moved:
	@echo 'Rebuilding $(ENV), which was built in another folder'
	@rm -rf $(ENV)

# The stamp of an extra is written after its installation, so that an interrupted installation is repeated.
$(ENV)/lowest.txt: pyproject.toml $(MOVED)
	@mkdir -p $(ENV)
	@sed -nE 's/^ +"([A-Za-z0-9-]+)>=([0-9.]+)[^"]*".*/\1==\2/p' pyproject.toml >$@

$(ENV)/has-base: $(MOVED) pyproject.toml $(CONSTRAINTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "xmlc needs Python 3.11 or newer; call make with PYTHON=python3.12, say")'
	@"$(BIN)/python" -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(ENV)
	$(call INSTALL,.[workflow])
	@pwd -P >$@

$(KNOWN:%=$(ENV)/has-%): $(ENV)/has-%: $(ENV)/has-base
	$(call INSTALL,.[$*])
	@touch $@

# Many small jobs finish sooner in parallel with one thread each than one after the other with all threads. CI sets
# THREADS to show that the tables do not depend on the number of threads.
THREADS ?= 1

demo: $(ENV)/has-base
	@PATH="$(BIN):$$PATH" snakemake --cores $(CORES) --config threads=$(THREADS) -- demo
	@PATH="$(BIN):$$PATH" xmlc show --brief results/tables/demo/table2.md
	@PATH="$(BIN):$$PATH" xmlc fingerprint results/tables/demo | tail -n 1

# The exit status of make is the status of `xmlc compare`: 0 if no number changed, 1 if some numbers changed, 2 if a
# comparison was impossible. Normally make exits with 2 if any command fails. With -q, make exits with the status of
# `xmlc compare`, and still runs commands that begin with +. Because -q builds nothing, a second make without -q builds
# the prerequisites. If you request other targets together with `compare`, make exits with 2 if some numbers changed.
DRY  := $(findstring n,$(firstword -$(MAKEFLAGS)))
ifneq ($(findstring |$(MAKECMDGOALS)|$(DRY),|compare|reference|),)
MAKEFLAGS += -q
endif
FIRST = +@MAKEFLAGS= $(MAKE) -s$(DRY) $(MAKEOVERRIDES)
ASK   = $(if $(DRY),,+)

compare:
	$(FIRST) env
	$(ASK)PATH="$(BIN):$$PATH" xmlc compare results/reference/demo results/tables/demo --markdown results/comparison.md

# results/reference/ has the reference tables of the demo and of each paper's suite on a small real dataset. The
# datasets of `make reference` come from a mirror or a download. `make reference` rebuilds the tables and compares them
# to the last bit. `make accept` rebuilds the tables and accepts the new ones as reference tables.
MIRROR ?= $(XMLC_MIRROR)
TABLES  = PATH="$(BIN):$$PATH" snakemake --cores $(CORES) --config threads=1 seeds='[0]' $(if $(MIRROR),mirror="$(MIRROR)")

reference-tables: $(ENV)/has-base
	$(TABLES) papers='[demo, gfm2011]' datasets='[scene, yeast]' -- tables
	$(TABLES) papers='[plt2016, swnn2018, ldsm2020, oplt2021]' datasets='[bibtex]' -- tables

reference:
	$(FIRST) reference-tables
	$(ASK)PATH="$(BIN):$$PATH" xmlc compare results/reference results/tables

accept: reference-tables
	PATH="$(BIN):$$PATH" xmlc accept results/tables results/reference

# Five seeds on all datasets of config/reference.yaml take hours. `make five-seeds` stores tables, records, and the
# single runs from which the intervals are computed.
FIVE = results/reference/five-seeds
# A mirror may contain estimates of a neural model for the dataset attentionxml-eurlex.
SCORED = attentionxml-eurlex

five-seeds: $(ENV)/has-base
	PATH="$(BIN):$$PATH" snakemake --cores $(CORES) --configfile config/reference.yaml $(if $(MIRROR),--config mirror="$(MIRROR)") -- all
	[ ! -d "$(MIRROR)/$(SCORED)" ] || { PATH="$(BIN):$$PATH" python -m benchmarks halves "$(MIRROR)/$(SCORED)" && \
		PATH="$(BIN):$$PATH" snakemake --cores $(CORES) --config papers='[neural]' threads=1 -- tables; }
	PATH="$(BIN):$$PATH" xmlc accept results/tables $(FIVE)
	PATH="$(BIN):$$PATH" xmlc seed-variation results/tables --out config/runs.csv
	PATH="$(BIN):$$PATH" xmlc archive --out $(FIVE)/records.tar.xz

# The rehearsal checks that everything works on this machine. It runs all models and tables of the papers with one seed,
# in a separate folder, on synthetic datasets with the shapes of the papers' large datasets, but 1/ROWS of the instances.
ROWS ?= 1024
LARGE = rcv1-2k amazoncat-13k wiki10-31k delicious-200k wikilshtc-325k amazon-670k amazon-3m
SHAPES = one-in-$(ROWS)

rehearsal: $(ENV)/has-base
	@mkdir -p rehearsal/results
	@ln -sfn ../Snakefile ../benchmarks ../config ../profiles ../workflow rehearsal && ln -sfn ../../results/published rehearsal/results
	@for set in $(LARGE); do [ -d rehearsal/$(SHAPES)/$$set ] || PATH="$(BIN):$$PATH" xmlc synth $$set --one-in $(ROWS) \
		--catalogue config/datasets.yaml --threads $(CORES) --out rehearsal/$(SHAPES)/$$set || exit; done
	cd rehearsal && PATH="$(BIN):$$PATH" snakemake --cores $(CORES) \
		--config datasets=large seeds='[0]' mirror=$(SHAPES) -- tables

# The report is built without Snakemake, so that it also works during a run.
report: $(ENV)/has-base
	PATH="$(BIN):$$PATH" xmlc results
	PATH="$(BIN):$$PATH" xmlc report
	@"$(BIN)/python" -c "import pathlib; print('Open it in any browser:', pathlib.Path('results/report/index.html').resolve().as_uri())"

# `programs` compares our estimators with other programs, all with default settings, for docs/speed.md. Comparing all
# programs takes an hour on one thread. PECOS and LibMultiLabel get separate environments, .venv-pecos and
# .venv-libmultilabel. The predictions of all programs stay in results/<dataset>/programs.
PROGRAM_SETS = scene yeast enron bibtex delicious tib-core-26k

programs: $(ENV)/has-base $(ENV)/has-baselines
	$(TABLES) -- $(PROGRAM_SETS:%=results/%/data)
	PATH="$(BIN):$$PATH" python -m benchmarks programs $(PROGRAM_SETS:%=--data results/%/data) --out results/benchmarks/programs.csv

# `bits` computes all results for this processor and for imitated older processors. Finally, `bits` lists all results
# that are not bit-identical. DATA may list folders of prepared datasets for `bits`, such as results/scene/data.
bits: $(ENV)/has-base
	PATH="$(BIN):$$PATH" python -m benchmarks bits --demo --cores $(CORES) $(DATA:%=--data %)

# `test` omits the slow tests, which repeat checks of the fast tests in whole runs. `test-all` runs all tests.
PYTEST = PATH="$(BIN):$$PATH" python -m pytest -n $(CORES) --dist loadfile --no-loadscope-reorder

test: $(ENV)/has-test
	$(PYTEST) -m "not slow" $(TESTS)

test-all: $(ENV)/has-test
	$(PYTEST) $(TESTS)

# `bounds` runs the fast tests of kernels, in which any index outside an array is an error. Kernels with index checks
# are cached in a separate folder. `test-rest` runs what `make test` leaves out, which are the slow tests and those that
# need another extra or data, so that CI runs each test once after `make test`.
bounds: $(ENV)/has-test
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR="$(CURDIR)/$(ENV)/checked-kernels" $(PYTEST) -p bounds -m "kernels and not slow"

test-rest: $(ENV)/has-test
	$(PYTEST) -m "slow or needs" --durations=25

# `fuzz` reads N mutated inputs of each format, and kills a run at many different moments. CI runs the tests of `fuzz`
# with fewer inputs and fewer kills, to save time.
N ?= 100000

fuzz: $(ENV)/has-test
	FUZZ=$(N) PATH="$(BIN):$$PATH" python -m pytest -n $(CORES) tests/hostile

lint: $(ENV)/has-lint
	PATH="$(BIN):$$PATH" ruff check .
	PATH="$(BIN):$$PATH" ruff format --check .
	PATH="$(BIN):$$PATH" python .ci/prose.py
	PATH="$(BIN):$$PATH" python .ci/density.py
	PATH="$(BIN):$$PATH" mypy
	PATH="$(BIN):$$PATH" snakefmt --check Snakefile workflow
	PATH="$(BIN):$$PATH" snakemake --lint

# `docs` builds a site from the pages of docs/, the docstrings, and the report of the runs in
# results/reference/five-seeds. It also runs the notebook docs/tour.ipynb. A warning of Sphinx counts as an error, and
# so does an error in the notebook.
docs: $(ENV)/has-docs report-of-five-seeds
	PATH="$(BIN):$$PATH" sphinx-build --quiet --fail-on-warning --keep-going docs docs/_build
	@"$(BIN)/python" -c "import pathlib; print('Open it in any browser:', pathlib.Path('docs/_build/index.html').resolve().as_uri())"

# The report is built in the folder of the unpacked records. The folder of the records also has links to all other
# inputs of the report, so that the report shows the original paths.
report-of-five-seeds: $(ENV)/has-base
	rm -rf docs/_runs docs/_page && mkdir -p docs/_runs/results/figures docs/_runs/logs docs/_page
	"$(BIN)/python" -m tarfile -e $(FIVE)/records.tar.xz docs/_runs
	ln -s "$(CURDIR)/config" docs/_runs/config
	ln -s "$(CURDIR)/results/published" "$(CURDIR)/results/reference" docs/_runs/results
	cd docs/_runs && PATH="$(BIN):$$PATH" xmlc report --out ../_page/report

# A release (docs/releasing.md) is the wheel and the source archive of the commit, in dist/. All files that contain the
# version number must agree.
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' xmlc/__init__.py)
DAY     = $(shell sed -n '/^## /{s/^## $(VERSION) - //p;q;}' CHANGELOG.md)

release: dist
	git tag --annotate --message 'xmlc $(VERSION)' v$(VERSION)

dist: $(ENV)/has-release
	@git diff --quiet HEAD || { echo 'commit or stash all changes first'; exit 1; }
	@[ -n '$(DAY)' ] || { echo 'CHANGELOG.md: the first heading is not "## $(VERSION) - <date>", as in xmlc/__init__.py'; exit 1; }
	@grep -qx 'version: $(VERSION)' CITATION.cff && grep -qx 'date-released: $(DAY)' CITATION.cff || \
		{ echo 'CITATION.cff: expected version $(VERSION) and date-released $(DAY), as in CHANGELOG.md'; exit 1; }
	rm -rf dist && mkdir -p dist/source && git archive HEAD | tar -x -C dist/source
	"$(BIN)/python" -m build --outdir dist dist/source
	rm -r dist/source

clean:
	rm -rf dist rehearsal docs/_build docs/_page docs/_runs docs/jupyter_execute results/demo results/tables results/figures results/comparison.md results/report results/results.csv resources logs .snakemake
