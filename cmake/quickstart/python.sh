# shellcheck shell=bash
# The Python environment: .venv with the pinned versions of cmake/requirements.lock, or what SYNCYTE_VENV names.

readonly LOCK_FILE="${SYNCYTE_ROOT}/cmake/requirements.lock"
readonly ENVIRONMENT="${SYNCYTE_VENV:-${SYNCYTE_ROOT}/.venv}"
readonly STAMP="${ENVIRONMENT}/.syncyte-lock"

python_of_environment() { echo "${ENVIRONMENT}/bin/python"; }

# The lock file's hash and the interpreter's version: what the stamp of an environment that is complete contains.
wanted_stamp() {
  printf '%s %s\n' "$(sha256sum "${LOCK_FILE}" | cut -d ' ' -f 1)" "$("$(python_of_environment)" --version)"
}

# Prints the Python that makes the environment.
find_python() {
  local candidate
  for candidate in "${SYNCYTE_PYTHON:-}" /usr/bin/python3 python3; do
    if [[ -n "${candidate}" ]] && command -v "${candidate}" >/dev/null &&
      "${candidate}" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "${candidate}"
      return 0
    fi
  done
  fail "no Python 3.11 or newer with the modules venv and ensurepip was found (SYNCYTE_PYTHON can name one)"
}

# An environment that is not ours is never changed: each package of the lock file that is named on a line of its own
# above the line "# Their dependencies" must be there.
check_foreign_environment() {
  local missing
  missing="$("$(python_of_environment)" - "${LOCK_FILE}" <<'TEXT'
import importlib.metadata as metadata, sys
for line in open(sys.argv[1]):
    if line.startswith("# Their dependencies"):
        break
    name = line.split("==")[0].strip()
    if name and not name.startswith("#"):
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            print(name)
TEXT
)"
  [[ -z "${missing}" ]] || fail "the environment ${ENVIRONMENT} (SYNCYTE_VENV) lacks ${missing//$'\n'/, }:" \
    "install them there, all versions are in cmake/requirements.lock, or unset SYNCYTE_VENV"
  step "Python environment: ${ENVIRONMENT}, used as it is"
}

ensure_python() {
  if [[ -x "$(python_of_environment)" ]]; then
    if [[ -f "${STAMP}" && "$(<"${STAMP}")" == "$(wanted_stamp)" ]]; then
      step "Python environment: ${ENVIRONMENT} is complete"
      return 0
    fi
    if [[ -n "${SYNCYTE_VENV:-}" && ! -f "${STAMP}" ]]; then
      check_foreign_environment
      return 0
    fi
  else
    step "Python environment: making ${ENVIRONMENT}"
    "$(find_python)" -m venv "${ENVIRONMENT}"
  fi
  step "Python environment: installing the $(grep -c '==' "${LOCK_FILE}") packages of cmake/requirements.lock" \
    "(PyTorch is 5 GB on disk: some minutes)"
  rm -f "${STAMP}"
  watched '^(Collecting|  ?Downloading|  ?Using cached|Installing|Successfully|ERROR|WARNING)' \
    "$(python_of_environment)" -m pip install --no-input --disable-pip-version-check --progress-bar off \
    --requirement "${LOCK_FILE}"
  wanted_stamp >"${STAMP}"
}
