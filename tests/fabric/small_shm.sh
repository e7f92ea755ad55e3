#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# small_shm.sh SIZE COMMAND...: runs a command that sees a /dev/shm of this size; status 77 without the right to mount.
unshare --mount mount --make-rprivate / 2>/dev/null || exit 77
exec unshare --mount sh -c 'mount --make-rprivate / && mount -t tmpfs -o "size=$0" tmpfs /dev/shm && exec "$@"' "$@"
