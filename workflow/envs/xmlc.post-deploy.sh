# This script runs in the new environment, in the folder of the project. It installs xmlc in editable mode, so that the
# environment uses the code of this folder.
set -eu
python -m pip install --quiet --constraint constraints.txt --editable ".[workflow,baselines,tune]"
