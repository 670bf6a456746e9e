# SPDX-License-Identifier: MIT
# Writes the shell blocks of a Markdown page to dir/LINE.sh, what console blocks print to dir/LINE.out, and lists
# "LINE sh", "LINE console", "LINE no" (left out) and "LINE unlabelled" (commands without a language).
function commands(text) { return text ~ /^(rela|make|\$) / }

/^<!-- run: no, .* -->$/ { no = 1; next }
/^```/ && !inside {
    inside = 1
    kind = substr($0, 4)
    at = NR
    if (kind == "sh" || kind == "console")
        print at, no ? "no" : kind
    no = 0
    next
}
/^```$/ { inside = 0; close(dir "/" at ".sh"); next }
inside && kind == "sh" { print >(dir "/" at ".sh") }
inside && kind == "console" {
    if (sub(/^\$ /, ""))
        print >(dir "/" at ".sh")
    else
        print >(dir "/" at ".out")
}
inside && kind == "" && commands($0) { print at, "unlabelled" }
!inside && /^    / && commands(substr($0, 5)) { print NR, "unlabelled" }
!/^$/ { no = 0 }
