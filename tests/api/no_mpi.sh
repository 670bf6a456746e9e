#!/bin/sh
# SPDX-License-Identifier: MIT
# Where there is no MPI the module for it is left out, or missed if RELA_MPI=ON insists on it.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
# Hides the MPI of this machine from CMake: neither mpicc nor guesses, and a package file that cannot be used.
printf 'Name: none\nDescription: none\nVersion: 1\nRequires: no-such-module\n' >"$scratch/mpi-c.pc"
configure() {
    PKG_CONFIG_PATH=$scratch cmake -S "$RELA_SOURCE" -B "$scratch/$1" -DRELA_MPI="$1" -DRELA_BUILD_TESTS=OFF -DRELA_BUILD_BENCH=OFF \
        -DMPI_SKIP_COMPILER_WRAPPER=ON -DMPI_SKIP_GUESSING=ON >"$scratch/out" 2>&1
}

configure AUTO
cmake --build "$scratch/AUTO" --target help >"$scratch/targets"
grep -q rela_shared "$scratch/targets"
! grep rela_mpi "$scratch/targets" || { echo "a target for the module without MPI"; exit 1; }
! configure ON || { echo "RELA_MPI=ON: no MPI, and no error"; exit 1; }
grep -q 'Could NOT find MPI' "$scratch/out"
echo "no MPI: no module, or an error that says so"
