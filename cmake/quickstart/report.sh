# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Output at the terminal: steps with elapsed time, output of long commands line by line, errors.

SECONDS=0

# step TEXT...: a headline.
step() { printf '==> [%4ds] %s\n' "${SECONDS}" "$*"; }

# fail TEXT...: says why and ends.
fail() {
  printf 'quickstart: %s\n' "$*" >&2
  exit 2
}

# Copies lines from standard input with the elapsed time in front; after 20 s without a line prints "still working".
with_time() {
  local line status
  while true; do
    status=0
    IFS= read -r -t 20 line || status=$?
    if ((status == 0)); then
      printf '    [%4ds] %s\n' "${SECONDS}" "${line}"
    elif ((status > 128)); then
      printf '    [%4ds] ... still working\n' "${SECONDS}"
    else
      [[ -z "${line}" ]] || printf '    [%4ds] %s\n' "${SECONDS}" "${line}"
      return 0
    fi
  done
}

# watched FILTER COMMAND...: runs a long command without standard input. Prints the lines that match the extended
# regular expression FILTER, keeps all lines in a file, and prints the file's end if the command fails.
watched() {
  local filter="$1" log status=0
  shift
  log="$(mktemp "${TMPDIR:-/tmp}/syncyte-quickstart.XXXXXX")"
  "$@" </dev/null 2>&1 | tee "${log}" | { grep --line-buffered -E "${filter}" || true; } | with_time || status=$?
  if ((status != 0)); then
    printf 'quickstart: this failed (status %d): %s\nIts last lines:\n' "${status}" "$*" >&2
    tail -n 40 "${log}" >&2
    printf 'All of its output: %s\n' "${log}" >&2
    exit 1
  fi
  rm -f "${log}"
}
