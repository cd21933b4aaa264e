#!/bin/sh
# Both images run this script as root on Debian trixie. It installs packages of the system, Python packages in the
# versions of constraints.txt, and the compiled kernels. The project's files are in /opt/xmlc.
#   EXTRAS   extras of pyproject.toml in addition to `workflow`, such as storage,baselines
#   KERNELS  suites whose kernels are compiled into the image, or all. Jobs compile those that are missing
#   HOME     of every user of the image
set -eu
cd /opt/xmlc
[ "$KERNELS" != all ] || KERNELS="config/demo.yaml config/papers/*.yaml"

apt-get update
# Jobs without a shared file system need git, which lists the workflow's sources. The storage plugin `fs` needs rsync.
DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends ca-certificates git python3 python3-venv rsync
rm -rf /var/lib/apt/lists/*

python3 -m venv /opt/venv
/opt/venv/bin/python -m pip install --no-cache-dir --constraint constraints.txt ".[workflow${EXTRAS:+,$EXTRAS}]"

# Fails if the installation lacks files that a study needs, because the folder was incomplete.
checked="$(mktemp -d)"
/opt/venv/bin/xmlc new "$checked/study"
rm -r "$checked"

for suite in $KERNELS; do
    /opt/venv/bin/xmlc compile "$suite"
done
# Any user may run the image and add kernels for another processor.
mkdir -p "$HOME" /work
chmod -R a+rwX "$HOME" /work /opt/venv/lib/python3*/site-packages/xmlc/__pycache__
