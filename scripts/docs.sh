#!/usr/bin/env bash
# Builds the site into out/site: installs the tools of the group `docs` where they are missing, runs every example and
# notebook, and fails on any warning and on any link that leads nowhere. No network once the tools are there.
set -euo pipefail
cd "$(dirname "$0")/.."
VENV=${VENV:-.venv}
export PIP_RETRIES=${PIP_RETRIES:-2} MPLBACKEND=agg OMP_NUM_THREADS=1 PYTHONPATH=$PWD
export PYTHONWARNINGS="ignore::UserWarning:matplotlib"

stamp="$VENV/.docs-stamp"
wanted=$(sed -n '/^docs = \[/,/^\]/p' pyproject.toml | sha256sum | cut -d' ' -f1)
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    printf 'docs: installing Sphinx and its extensions\n' >&2
    "$VENV/bin/python" -m pip install --quiet --group docs
    printf '%s\n' "$wanted" > "$stamp"
fi
"$VENV/bin/python" -m sphinx -W --keep-going -q -b html -d out/doctrees docs out/site
"$VENV/bin/python" scripts/check_site.py out/site
