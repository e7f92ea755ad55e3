#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a program and prints its exit status, which mpirun --enable-recovery ignores.
LD_PRELOAD=$PRELOADED "$@"
echo "rank $OMPI_COMM_WORLD_RANK returns $?"
