# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Checks options and environment first, because packages, Python and the build take minutes.

asks_for_help() {
  local argument
  for argument in "$@"; do
    [[ "${argument}" != -h && "${argument}" != --help ]] || return 0
  done
  return 1
}

# check_arguments COMMAND OPTION...: ends with an error message if an option or a variable is wrong.
check_arguments() {
  local command="$1"
  shift
  case "${command}" in
    demo) demo_options "$@" || exit 2 ;;
    test) ;;
    *) (($# == 0)) || fail "'${command}' takes no options, but got: $*" ;;
  esac
  [[ "${SYNCYTE_JOBS:-1}" =~ ^[1-9][0-9]*$ ]] || fail "SYNCYTE_JOBS is '${SYNCYTE_JOBS}': expected a number, 1 or more"
  [[ -z "${SYNCYTE_PYTHON:-}" ]] || check_named_python
}

# Prints the usage, and the demo's own options for the command demo.
help_of() {
  usage
  if [[ "$1" == demo ]]; then
    printf '\nOptions of the demo\n'
    demo_options --help
  fi
}

# demo_options OPTION...: checks options by the demo's own parser, which needs only a Python without packages. The
# parser prints an error (status 2), or the help. Without a Python the options are not checked yet.
demo_options() {
  local python
  if ! python="$(any_python)"; then
    ! asks_for_help "$@" || echo "  there is no Python yet that could list them; after './cmake/quickstart.sh setup' there is"
    return 0
  fi
  "${python}" -B - "${SYNCYTE_ROOT}" "$@" <<'TEXT'
import ast, os, sys

root, *arguments = sys.argv[1:]
demo = os.path.join(root, "examples", "tsunami")
sys.path.insert(0, demo)
from driver.options import parse_options

with open(os.path.join(demo, "demo.py"), encoding="utf-8") as file:
    description = ast.get_docstring(ast.parse(file.read()))
sys.argv[0] = "quickstart.sh demo"
parse_options(description, ["--build", root, *arguments])  # any folder that exists: the build's may not exist yet
TEXT
}
