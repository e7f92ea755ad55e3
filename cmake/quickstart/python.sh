# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The Python environment: .venv with the pinned versions of cmake/requirements.lock, or the folder in SYNCYTE_VENV.

# place_environment FOLDER LOCK_FILE: sets the environment's folder and the file that names its packages.
place_environment() {
  ENVIRONMENT="$1"
  LOCK_FILE="$2"
  [[ "${ENVIRONMENT}" == /* ]] || ENVIRONMENT="${PWD}/${ENVIRONMENT}"
  STAMP="${ENVIRONMENT}/.syncyte-lock"   # written when all packages are installed
  MARKER="${ENVIRONMENT}/.syncyte-made"  # written first: quickstart has made this environment
}
place_environment "${SYNCYTE_VENV:-${SYNCYTE_ROOT}/.venv}" "${SYNCYTE_ROOT}/cmake/requirements.lock"

python_of_environment() { echo "${ENVIRONMENT}/bin/python"; }

# Prints the contents of a complete environment's stamp: the lock file's hash and the interpreter's version.
wanted_stamp() {
  printf '%s %s\n' "$(sha256sum "${LOCK_FILE}" | cut -d ' ' -f 1)" "$("$(python_of_environment)" --version)"
}

readonly CAN_MAKE_ENVIRONMENTS='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'

# Prints a Python that can run a script without packages (3.9 or newer); fails if there is none.
any_python() {
  local candidate
  for candidate in "$(python_of_environment)" "${SYNCYTE_PYTHON:-}" /usr/bin/python3 python3; do
    if [[ -n "${candidate}" ]] && "${candidate}" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
      echo "${candidate}"
      return 0
    fi
  done
  return 1
}

# Ends with an error if SYNCYTE_PYTHON cannot be used; no other Python is taken instead.
check_named_python() {
  local version
  version="$("${SYNCYTE_PYTHON}" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" ||
    fail "SYNCYTE_PYTHON is '${SYNCYTE_PYTHON}': that is no Python that can be run"
  [[ "$(printf '3.11\n%s\n' "${version}" | sort -V | head -n 1)" == 3.11 ]] ||
    fail "SYNCYTE_PYTHON is '${SYNCYTE_PYTHON}', a Python ${version}: expected 3.11 or newer"
}

# Prints the Python that makes the environment.
find_python() {
  local candidate
  local -a candidates=(/usr/bin/python3 python3)
  [[ -z "${SYNCYTE_PYTHON:-}" ]] || candidates=("${SYNCYTE_PYTHON}")
  for candidate in "${candidates[@]}"; do
    if command -v "${candidate}" >/dev/null && "${candidate}" -c "${CAN_MAKE_ENVIRONMENTS}" 2>/dev/null; then
      echo "${candidate}"
      return 0
    fi
  done
  [[ -z "${SYNCYTE_PYTHON:-}" ]] ||
    fail "SYNCYTE_PYTHON is '${SYNCYTE_PYTHON}', which lacks the modules venv and ensurepip: expected a Python that has them"
  fail "no Python 3.11 or newer with the modules venv and ensurepip was found (SYNCYTE_PYTHON can name one)"
}

# Checks an environment that quickstart has not made, and never changes it. Each package of the lock file above the line
# "# Their dependencies" must be installed; other versions are used, and printed.
check_foreign_environment() {
  local found
  found="$("$(python_of_environment)" - "${LOCK_FILE}" <<'TEXT'
import importlib.metadata as metadata, sys
if sys.version_info < (3, 11):
    print("missing Python 3.11 or newer (it is %d.%d)" % sys.version_info[:2])
for line in open(sys.argv[1]):
    if line.startswith("# Their dependencies"):
        break
    name, _, wanted = line.rstrip("\\ \n").partition("==")
    if name and not name.startswith(("#", " ")):  # hashes follow on lines that begin with a space
        try:
            version = metadata.version(name)
            if version.split("+")[0] != wanted:
                print("other", name, version, f"({wanted})")
        except metadata.PackageNotFoundError:
            print("missing", name)
TEXT
)" || fail "the Python of the environment ${ENVIRONMENT} (SYNCYTE_VENV) does not run"
  local missing other
  missing="$(sed -n 's/^missing //p' <<<"${found}")"
  other="$(sed -n 's/^other //p' <<<"${found}")"
  [[ -z "${missing}" ]] || fail "the environment ${ENVIRONMENT} (SYNCYTE_VENV) lacks ${missing//$'\n'/, }:" \
    "install them there (all versions are in cmake/requirements.lock), unset SYNCYTE_VENV, or delete that folder: it is" \
    "then made with all of them"
  step "Python environment: ${ENVIRONMENT}, used as it is"
  [[ -z "${other}" ]] || step "Python environment: other versions than the tested ones (in brackets): ${other//$'\n'/, }"
}

# True if SYNCYTE_VENV names a folder with files that quickstart has not made. .venv always counts as quickstart's.
is_foreign() {
  [[ -n "${SYNCYTE_VENV:-}" && ! -f "${STAMP}" && ! -f "${MARKER}" && -n "$(ls -A "${ENVIRONMENT}" 2>/dev/null)" ]]
}

# Makes the build's package importable in quickstart's environment by a .pth file; for a foreign environment prints the
# command. Tests of installations set SYNCYTE_WITHOUT_BUILD, which turns the .pth file off.
offer_package() {
  local package="${BUILD_FOLDER}/python" site
  [[ -d "${package}/syncyte" ]] || return 0
  if [[ -f "${STAMP}" ]]; then
    site="$("$(python_of_environment)" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
    printf "import os, sys; 'SYNCYTE_WITHOUT_BUILD' in os.environ or sys.path.append('%s')\n" "${package}" \
      >"${site}/syncyte-build.pth"
  else
    step "To import syncyte from this build: export PYTHONPATH=${package}"
  fi
}

# Makes the environment with pip. The marker is written first: after an interrupt the next call knows that quickstart
# has made this folder.
make_environment() {
  local python
  python="$(find_python)"
  step "Python environment: making ${ENVIRONMENT}"
  { mkdir -p "${ENVIRONMENT}" && : >"${MARKER}"; } 2>/dev/null ||
    fail "the Python environment ${ENVIRONMENT} cannot be made: a folder above it cannot be written, or is none" \
      "(SYNCYTE_VENV names another place)"
  "${python}" -m venv "${ENVIRONMENT}" || fail "'${python} -m venv ${ENVIRONMENT}' failed"
}

has_pip() { "$(python_of_environment)" -m pip --version >/dev/null 2>&1; }

# Makes sure that the environment has a Python with pip. An environment that quickstart has made but not completed is
# made anew, because some of its files may be incomplete. One that quickstart has not made is completed, never deleted.
ensure_environment() {
  if [[ -f "${MARKER}" && ! (-f "${STAMP}" && -x "$(python_of_environment)") ]]; then
    step "Python environment: ${ENVIRONMENT} was left unfinished, or lost its Python, and is made anew"
    find -H "${ENVIRONMENT}" -mindepth 1 -delete
  fi
  if [[ ! -x "$(python_of_environment)" ]]; then
    make_environment
  elif ! has_pip; then
    local python
    python="$(find_python)"
    step "Python environment: ${ENVIRONMENT} has no pip, which is added"
    "${python}" -m venv "${ENVIRONMENT}" || true
  fi
  has_pip || fail "the Python environment ${ENVIRONMENT} has no pip that runs: delete that folder, and call this again"
}

ensure_python() {
  if [[ -x "$(python_of_environment)" && -f "${STAMP}" && "$(<"${STAMP}")" == "$(wanted_stamp)" ]]; then
    step "Python environment: ${ENVIRONMENT} is complete"
    return 0
  fi
  if is_foreign; then
    [[ -x "$(python_of_environment)" ]] ||
      fail "SYNCYTE_VENV names ${ENVIRONMENT}, which is not empty and holds no Python environment (bin/python)"
    check_foreign_environment
    return 0
  fi
  ensure_environment
  local size=""
  ! grep -q '^torch==' "${LOCK_FILE}" || size=" (PyTorch is 5 GB on disk: some minutes)"
  step "Python environment: installing the packages of ${LOCK_FILE#"${SYNCYTE_ROOT}/"}${size}"
  [[ ! -f "${STAMP}" ]] || : >"${MARKER}"
  rm -f "${STAMP}"
  watched '^(Collecting|  ?Downloading|  ?Using cached|Installing|Successfully|ERROR|WARNING)' \
    "$(python_of_environment)" -m pip install --no-input --disable-pip-version-check --progress-bar off \
    --require-hashes --requirement "${LOCK_FILE}"
  wanted_stamp >"${STAMP}"
}
