#!/usr/bin/env bash
# Stands in for Python: makes and fills environments in no time, and writes down what it was asked for. Everything else
# goes to the real one. STUB_INTERRUPT=venv|pip ends it where a Ctrl-C could have.
log() { printf '%s: %s\n' "${PWD}" "$*" >>"${STUB_LOG}"; }

here="$(cd "$(dirname "$0")" && pwd)"
case "$*" in
  "-m venv "*)
    log "python $*"
    mkdir -p "$3/bin"
    cp "$0" "$3/bin/python"
    [[ "${STUB_INTERRUPT:-}" != venv ]] || exit 130
    touch "$3/has_pip"
    ;;
  "-m pip "*)
    [[ -f "${here}/../has_pip" ]] || exit 1
    [[ "$3" == install ]] || exit 0
    log "python $*"
    [[ "${STUB_INTERRUPT:-}" != pip ]] || exit 130
    ;;
  --version) echo "Python 3.11.2" ;;
  *purelib*)
    mkdir -p "${here}/../site"
    echo "${here}/../site"
    ;;
  */demo.py*) log "python $*" ;;
  *) exec "${STUB_REAL_PYTHON}" "$@" ;;
esac
