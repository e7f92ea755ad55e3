# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Finds missing system packages with dpkg-query, and installs them with apt-get if the user may do that.

LAST_LINE='$'  # of the file's part that is wanted: the address of sed

# Prints the names in cmake/system-packages.txt.
wanted_packages() {
  sed -n "1,${LAST_LINE}p" "${SYNCYTE_ROOT}/cmake/system-packages.txt" | grep -v -E '^[[:space:]]*(#|$)'
}

# Prints the wanted packages that are not installed, one a line.
missing_packages() {
  local wanted installed
  wanted="$(wanted_packages | sort -u)"
  # dpkg-query exits with 1 if it does not know a name; only its output is used.
  # shellcheck disable=SC2016,SC2086
  installed="$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' ${wanted} 2>/dev/null |
    sed -n 's/^installed //p' | sort -u || true)"
  comm -23 <(printf '%s\n' "${wanted}") <(printf '%s\n' "${installed}")
}

# Prints the prefix of apt-get: nothing for root, "sudo" for users who may use it; fails for all others.
privilege() {
  if ((EUID == 0)); then
    return 0
  fi
  command -v sudo >/dev/null || return 1
  if sudo -n true 2>/dev/null || [[ -t 0 ]]; then
    echo sudo
    return 0
  fi
  return 1
}

explain_manual_way() {
  cat >&2 <<TEXT

What to do instead
  Debian or Ubuntu, by an administrator:  apt-get install $(tr '\n' ' ' <<<"$1")
  Without an administrator, with Spack (1.0 or newer), from ${SYNCYTE_ROOT}:
    spack repo add spack/spack_repo/syncyte && spack install --only dependencies syncyte+tests
    SYNCYTE_SKIP_PACKAGES=1 spack build-env syncyte+tests -- ./cmake/quickstart.sh test
  Where the packages come from another place: SYNCYTE_SKIP_PACKAGES=1 ./cmake/quickstart.sh ...
TEXT
}

# ensure_packages COMMAND: installs the packages that the command needs.
ensure_packages() {
  local missing prefix
  [[ "$1" != first ]] || LAST_LINE='/^# Needed by all other commands/'
  if [[ "${SYNCYTE_SKIP_PACKAGES:-0}" == 1 ]]; then
    step "System packages: not looked for (SYNCYTE_SKIP_PACKAGES=1)"
    return 0
  fi
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    printf 'quickstart: this is no Debian or Ubuntu (no dpkg-query or apt-get).\n' >&2
    explain_manual_way "$(wanted_packages)"
    exit 2
  fi
  missing="$(missing_packages)"
  if [[ -z "${missing}" ]]; then
    step "System packages: all there"
    return 0
  fi
  step "System packages: $(wc -l <<<"${missing}") to install: $(tr '\n' ' ' <<<"${missing}")"
  if ! prefix="$(privilege)"; then
    printf 'quickstart: packages are missing, and only root or sudo may install them:\n  %s\n' \
      "$(tr '\n' ' ' <<<"${missing}")" >&2
    explain_manual_way "${missing}"
    exit 2
  fi
  install_packages "${prefix}" "${missing}"
}

# install_packages PREFIX NAMES: the names are separated by white space.
install_packages() {
  local -a apt=(env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3)
  local -a names
  read -r -d '' -a names <<<"$2" || true
  if [[ -n "$1" ]]; then
    apt=("$1" "${apt[@]}")
  fi
  [[ -z "$1" ]] || sudo -v
  watched '^(Err|E:|W:|Fetched|Reading)' "${apt[@]}" update
  watched '^(Get:|Setting up|Err|E:|Fetched|[0-9]+ upgraded)' "${apt[@]}" install -y --no-install-recommends "${names[@]}"
  local left
  left="$(missing_packages)"
  [[ -z "${left}" ]] || fail "apt-get ended without an error, but these are still not installed: ${left//$'\n'/ }"
}
