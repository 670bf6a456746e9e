#!/bin/sh
# SPDX-License-Identifier: MIT
# `cmake --install` puts everything in place, and a program can be built with the result: through
# pkg-config and through the CMake package, with the shared and with the static library.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
prefix=$scratch/prefix
cmake --install "$RELA_BUILD" --prefix "$prefix" >/dev/null
flags=${RELA_SANITIZE:+-fsanitize=$RELA_SANITIZE}

cd "$prefix"
libdir=$(dirname "$(find . -name librela.a)")
libdir=$prefix/${libdir#./}
for file in bin/rela include/rela/rela.h share/man/man1/rela.1 share/man/man1/rela-info.1 \
    share/bash-completion/completions/rela share/zsh/site-functions/_rela \
    share/fish/vendor_completions.d/rela.fish "$libdir/librela.so" "$libdir/librela.a" \
    "$libdir/pkgconfig/rela.pc" "$libdir/cmake/rela/rela-config.cmake"; do
    [ -s "$file" ] || { echo "$file is missing"; exit 1; }
done
[ "$(bin/rela --version)" = "$("$RELA" --version)" ]
[ "$(find share/man/man1 -name '*.1' | wc -l)" -eq $(($("$RELA" help commands | wc -l) + 1)) ]
! grep -rIl "$RELA_SOURCE" . || { echo "paths of the source tree (above)"; exit 1; }

version=$("$RELA" --version | sed 's/rela \([0-9]*\.[0-9]*\).*/\1/')
want="hello from rela $version"
export PKG_CONFIG_PATH="$libdir/pkgconfig"
cd "$scratch"
cc() { gcc -std=c99 -Wall -Wextra -Werror $flags "$RELA_SOURCE/tests/api/consumer.c" "$@"; }

cc $(pkg-config --cflags --libs rela) -o shared
[ "$(./shared)" = "$want" ]
readelf -d shared | grep -q 'librela\.so\.0\.' || { echo "shared: not linked to librela.so"; exit 1; }
echo "pkg-config, shared library: fine"

# A package of the system needs neither an rpath nor a search from its own place.
cmake -S "$RELA_SOURCE" -B system -DCMAKE_INSTALL_PREFIX=/usr -DRELA_BUILD_TESTS=OFF -DRELA_BUILD_BENCH=OFF >/dev/null
grep -qx 'prefix=/usr' system/rela.pc
! grep -E 'rpath|pcfiledir' system/rela.pc || { echo "rela.pc of the system (above)"; exit 1; }
echo "pkg-config, system: fine"

cc $(pkg-config --cflags rela) "$libdir/librela.a" -Wl,--as-needed $(pkg-config --static --libs rela) -o static
[ "$(./static)" = "$want" ]
! readelf -d static | grep 'librela\.so' || { echo "static: needs librela.so"; exit 1; }
echo "pkg-config, static library: fine"

for kind in shared static; do
    mkdir "cmake-$kind"
    cp "$RELA_SOURCE/tests/api/consumer.c" "cmake-$kind"
    cat >"cmake-$kind/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.21)
project(consumer C)
find_package(rela $version REQUIRED COMPONENTS $kind)
add_executable(consumer consumer.c)
target_link_libraries(consumer PRIVATE rela::$kind)
EOF
    cmake -S "cmake-$kind" -B "cmake-$kind/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="$flags" >/dev/null
    cmake --build "cmake-$kind/build" >/dev/null
    [ "$("cmake-$kind/build/consumer")" = "$want" ]
    echo "CMake package, $kind library: fine"
done
