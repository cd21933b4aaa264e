# Runs in the new environment, in the folder of the project. The editable mode makes the environment use its code.
set -eu
python -m pip install --quiet --constraint constraints.txt --editable ".[workflow,baselines,tune]"
