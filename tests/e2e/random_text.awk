# SPDX-License-Identifier: MIT
# 700 sentences of words w0 .. w49, for trainings that need some text.
BEGIN {
    srand(7)
    for (i = 0; i < 700; i++) {
        n = 2 + int(rand() * 8)
        line = ""
        for (j = 0; j < n; j++)
            line = line (j ? " " : "") "w" int(rand() * 50)
        print line
    }
}
