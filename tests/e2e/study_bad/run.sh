#!/bin/sh
# SPDX-License-Identifier: MIT
# Bad studies are refused before anything runs, in one line with file and line. tests/unit/test_study_read.c has more.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"
. "$RELA_SOURCE/tests/e2e/study.sh"
write_study s.yml

# bad CODE MESSAGE SED: the edited study is refused by plan and run alike.
bad() {
    sed "$3" s.yml >bad.yml
    cmp -s s.yml bad.yml && fail "$2: nothing was edited"
    refuses "$1" "$2" study plan bad.yml --dir w
    refuses "$1" "$2" study run bad.yml --dir w
    [ -z "$(find w -name claim -o -name log 2>/dev/null)" ] || fail "$2: something was run"
}

bad 3 "bad.yml: line 17: unknown key 'trian' in a study; did you mean 'train'?" 's/^train:/trian:/'
bad 3 "bad.yml: line 7: unknown option --updats" 's/updates: 2,/updats: 2,/'
bad 3 "bad.yml: line 7: option --batch-tokens: 'many'" 's/batch-tokens: 100/batch-tokens: many/'
bad 3 "bad.yml: line 10: unknown attention 'softmx'" 's/attention: softmax,/attention: softmx,/'
bad 3 "bad.yml: line 11: unknown option --gate" 's/{attention: rela-g}/{attention: rela-g, gate: 3}/'
bad 3 "bad.yml: line 5: unknown option --levle; did you mean --level?" "s/level: easy/levle: easy/"
bad 3 "bad.yml: line 19: option --beam: 0" 's/{beam: 1}/{beam: 0}/'
bad 3 "bad.yml: line 7: unknown key 'normalise' in an entry of 'data:'" 's/text: {tokenise: true, merges: 20}/&\n    normalise: true/'
bad 3 "bad.yml: line 5: no file 'none.en'" "s/corpus: .*/train: [none.en, none.de]/; /^tuning:/,/updates: 1/d; /^analyses:/,/sparsity/d"
bad 3 "the value of \${lr} contains itself" "s/lr: '0.01'}/lr: '\${lr}'}/"
bad 3 "contradicts" 's/valid-beam: 0, best-by: loss/valid-beam: 0, best-by: bleu/'
bad 3 "train/toy/softmax/1 is asked for twice, with different options" \
    's/^  - {stage: first.*/&\n  - {stage: more, data: toy, seeds: [1], updates: 7}/'
sed 's/width: 8, ffn: 8/width: 16384, ffn: 65536/; s/enc-layers: 1/enc-layers: 256/' s.yml >large.yml
refuses 1 "large.yml: line 13: tune/softmax/1 needs" study run large.yml --dir w
refuses 1 "MiB are free on disk in w" study run large.yml --dir w
refuses 2 "no job 'train/toy/rela-h/1'; did you mean 'train/toy/rela-g/1'?" study run s.yml --dir w --job train/toy/rela-h/1
refuses 2 "no stage 'frist'; did you mean 'first'?" study run s.yml --dir w --until frist
refuses 1 "none.yml" study plan none.yml
refuses 2 "--set size: expected NAME=VALUE" study plan s.yml --set size
refuses 2 "--set =3: expected NAME=VALUE" study plan s.yml --set =3
refuses 2 "--set siez=3: \${siez} stands nowhere in the study; did you mean \${size}?" study plan s.yml --set siez=3
refuses 2 "--set updates=9: \${updates} stands nowhere in the study" study plan s.yml --set updates=9
printf 'update\tnll\n' >valid.tsv
refuses 3 "no run was validated: more --updates or a smaller --valid-every is needed" study choose --setting lr=1 --out x valid.tsv
printf '1\tinf\n' >>valid.tsv
refuses 3 "no run has a finite validation" study choose --setting lr=1 --out x valid.tsv
refuses 2 "s.yml has no 'scales:'" study plan s.yml --scale minutes
finish
