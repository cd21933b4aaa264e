#!/bin/sh
# What both images are made by, on Debian trixie as root: the system's packages, Python's at the versions of
# constraints.txt, and the compiled kernels. The project's files lie in /opt/xmlc.
#   EXTRAS   extras of pyproject.toml beside `workflow`, such as storage,baselines
#   KERNELS  suites whose kernels are compiled into the image, or all; what is missing a job compiles for itself
#   HOME     of every user of the image
set -eu
cd /opt/xmlc
[ "$KERNELS" != all ] || KERNELS="config/demo.yaml config/papers/*.yaml"

apt-get update
# git lists the workflow's sources for jobs without a shared file system, rsync copies for the storage plugin `fs`.
DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends ca-certificates git python3 python3-venv rsync
rm -rf /var/lib/apt/lists/*

python3 -m venv /opt/venv
/opt/venv/bin/python -m pip install --no-cache-dir --constraint constraints.txt ".[workflow${EXTRAS:+,$EXTRAS}]"

# An installation from an incomplete folder lacks files that a study needs, and fails here.
checked="$(mktemp -d)"
/opt/venv/bin/xmlc new "$checked/study"
rm -r "$checked"

for suite in $KERNELS; do
    /opt/venv/bin/xmlc compile "$suite" --cores "$(nproc)"
done
# Any user may run the image, and add the kernels of another processor.
mkdir -p "$HOME" /work
chmod -R a+rwX "$HOME" /work /opt/venv/lib/python3*/site-packages/xmlc/__pycache__
