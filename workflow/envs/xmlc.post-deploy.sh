# Runs in the new environment, from the project's folder: the environment reads the package where it is.
set -eu
python -m pip install --quiet --constraint constraints.txt --editable ".[workflow,peers,tune]"
