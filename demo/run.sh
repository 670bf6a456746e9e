#!/bin/sh
# SPDX-License-Identifier: MIT
set -eu
"$1" info
