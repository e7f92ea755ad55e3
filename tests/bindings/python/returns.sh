#!/bin/sh
# Runs a program and prints its exit status, which mpirun --enable-recovery ignores.
LD_PRELOAD=$PRELOADED "$@"
echo "rank $OMPI_COMM_WORLD_RANK returns $?"
