# This script runs in the new environment, in the project's folder. The installation is editable, so that the
# environment uses the code of this folder.
set -eu
python -m pip install --quiet --constraint constraints.txt --editable ".[workflow,baselines,tune]"
