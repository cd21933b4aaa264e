# `make demo`: the whole pipeline on an embedded dataset. `make test`: the tests. Both make their own environment.
# Needs Python 3.11 or newer, pip, make and git, and nothing else.
PYTHON ?= python3
EXTRAS ?= test,report
CORES  ?= 2
ENV    := .venv
STAMP  := $(ENV)/installed-$(EXTRAS)
BIN    := $(CURDIR)/$(ENV)/bin

.PHONY: env demo compare report test lint docs clean

env: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "xmlc needs Python 3.11 or newer; call make with PYTHON=python3.12, say")'
	test -x $(ENV)/bin/python || $(PYTHON) -m venv $(ENV)
	$(ENV)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[$(EXTRAS)]"
	touch $@

demo: env
	PATH="$(BIN):$$PATH" snakemake --cores $(CORES) --quiet rules host -- demo
	@PATH="$(BIN):$$PATH" xmlc show results/tables/demo/*.md results/figures/demo/*.png

compare: env
	PATH="$(BIN):$$PATH" xmlc compare results/reference/demo results/tables/demo --tolerances config/tolerances.yaml --markdown results/comparison.md

report: env
	PATH="$(BIN):$$PATH" snakemake --cores $(CORES) --quiet rules host -- report
	@cat logs/report.log
	@echo "Open it in any browser: file://$(CURDIR)/results/report.html"

test: env
	PATH="$(BIN):$$PATH" python -m pytest -n $(CORES) --dist loadfile $(TESTS)

lint: env
	PATH="$(BIN):$$PATH" ruff check .
	PATH="$(BIN):$$PATH" ruff format --check .
	PATH="$(BIN):$$PATH" mypy
	PATH="$(BIN):$$PATH" snakefmt --check Snakefile workflow
	PATH="$(BIN):$$PATH" snakemake --lint
	PATH="$(BIN):$$PATH" snakemake --lint --config scatter=2

# The pages of docs/ and the reference from the docstrings, as a site; any warning is an error.
docs: env
	test -x $(ENV)/bin/sphinx-build || $(MAKE) env EXTRAS=$(EXTRAS),docs
	PATH="$(BIN):$$PATH" sphinx-build --quiet --fail-on-warning --keep-going docs docs/_build
	@echo "Open it in any browser: file://$(CURDIR)/docs/_build/index.html"

clean:
	rm -rf docs/_build results/demo results/tables results/figures results/comparison.md results/report.html results/results.csv results/plan.json resources logs benchmarks .snakemake
