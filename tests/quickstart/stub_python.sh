#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A stand-in for Python: makes and fills environments at once, and logs its arguments. The real Python runs everything
# else. STUB_INTERRUPT=venv|pip ends it at a point where Ctrl-C could.
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
