# SPDX-License-Identifier: MIT
# What people type wrong, and what they are told: one line with the place, the reason and, where there is one, the remedy.
set -eu
. "$RELA_SOURCE/tests/e2e/lib.sh"

"$RELA" corpus --quiet --size 120 --valid 10 --test 5 --out c 2>/dev/null
small="--preset demo --merges 20 --width 32 --ffn 32 --heads 2 --enc-layers 1 --dec-layers 1 --updates 2 --batch-tokens 300"
train="--train-src c/train.src --train-tgt c/train.tgt"
"$RELA" train --quiet $small $train --out run
m=run/model.rela
head -c 3000 $m >cut.rela
cp $m damaged.rela
printf 'x' | dd of=damaged.rela bs=1 seek=$(($(wc -c <$m) - 900)) conv=notrunc 2>/dev/null
printf 'not a model\n' >text

# commands, options, values
refuses 2 "unknown command 'trian'; did you mean 'train'?" trian
refuses 2 "unknown command 'translte'; did you mean 'translate'?" translte
refuses 2 "unknown command 'align-words'; 'rela --help' lists them" align-words
refuses 2 "'bpe' needs a second word: learn, apply, undo" bpe
refuses 2 "unknown command 'bpe undu'; did you mean 'undo'? expected learn, apply, undo" bpe undu
refuses 2 "unknown command 'transl'" help transl
refuses 2 "unknown command 'TRANSLATE'; did you mean 'translate'?" TRANSLATE
refuses 2 "unknown command 'decode'; did you mean 'translate'?" decode
refuses 2 "unknown command 'learn-bpe'; did you mean 'bpe learn'?" learn-bpe
refuses 2 "unknown command 'fast_align'; did you mean 'align'?" fast_align
refuses 2 "unknown command 'sacrebleu'; did you mean 'bleu'?" sacrebleu c/test.tgt
refuses 2 "unknown command '-v'; did you mean '--version'?" -v
refuses 2 "unknown command '--hepl'; did you mean '--help'?" --hepl
refuses 2 "unknown command 'extra'" --help extra
refuses 2 "'help man' needs a command" help man
refuses 2 "'help completion' needs a shell: bash, zsh or fish" help completion
refuses 2 "unknown command 'truecase appply'; did you mean 'apply'?" truecase appply
refuses 2 "no model; give one with --model FILE" truecase c/test.tgt
accepts bpe --help
grep -q "^  bpe undo" lib.out || fail "bpe --help: $(cat lib.out)"
accepts help bpe
refuses 2 "unknown command 'train-it'; 'rela --help' lists them" train-it
refuses 2 "unknown option --hepl; did you mean --help?" translate --hepl
refuses 2 "unknown option -Z" translate -Z $m
refuses 2 "option --tokenize: '13b' is not one of 13a|intl|char|none; did you mean '13a'?" bleu -k 13b c/test.tgt
refuses 2 "option --to: 'onnx' is not one of rela|safetensors|ctranslate2|int8|mapped" convert $m --to onnx
refuses 2 "option --threads: 900 is out of range; expected 0..256" translate -t 900 $m
refuses 2 "language 'germn' is not known; did you mean de?" tokenise -l germn c/test.tgt
refuses 2 "language 'cz' is not known; did you mean cs?" split -l cz c/test.tgt
refuses 2 "language 'xx' is not known; did you mean xh?" train $train --src-lang xx --out x
refuses 2 "language 'jp' is not known; did you mean ja?" align --tokenise --src-lang jp --tgt-lang en c/test.src c/test.tgt
refuses 2 "language '12' is not known; expected a code like en, de or pt-BR, or und for one without a code" translate --src-lang 12 $m -i c/test.src
refuses 2 "the language of c/train.src is not known, and --tokenise needs it: give --src-lang and --tgt-lang, such as en" train $train --tokenise --out x
refuses 2 "the language of c/train.tgt is not known, and --tokenise needs it: give --tgt-lang, such as en" train $train --tokenise --src-lang en --out x
refuses 2 "the language of c/train.src is not known, and --normalise needs it: give --src-lang, such as en" train $train --normalise --tgt-lang deu --out x
refuses 2 "the language of c/test.src is not known, and --tokenise needs it: give --src-lang and --tgt-lang, such as en" align --tokenise c/test.src c/test.tgt
refuses 2 "numbers of a kind are separated by ':', not by ',' at 'redraw=2'" train $small $train -a performer:features=8,redraw=2 --out x
refuses 2 "attention 'local:windw=3': local has no number 'windw'; did you mean 'window'?" train $small $train -a local:windw=3 --out x
refuses 2 "unknown option --atention; did you mean --attention?" train --atention softmax
refuses 2 "unknown option --beem; did you mean --beam?" translate --beem 4 $m
refuses 2 "unknown option --frobnicate" translate --frobnicate $m
refuses 2 "unknown command 'ter'; 'rela --help' lists them" ter
refuses 2 "unknown command 'are'; did you mean 'aer'?" are
refuses 2 "unknown option --beam-size; did you mean --beam?" translate --beam-size 4 $m
refuses 2 "unknown option --beamsize; did you mean --beam?" translate --beamsize 4 $m
refuses 2 "unknown option --nbest; did you mean --n-best?" translate --nbest 4 $m
refuses 2 "unknown option --mini-batch; did you mean --batch?" translate --mini-batch 4 $m
refuses 2 "unknown option --mini-batch; did you mean --batch-tokens?" train --mini-batch 4
refuses 2 "unknown option --maxi-batch; did you mean --read-bytes?" translate --maxi-batch 4 $m
refuses 2 "unknown option --int8; did you mean --to int8?" convert $m --int8 -o x.rela
refuses 2 "unknown option -lc; did you mean --lowercase?" bleu -lc c/test.tgt
refuses 2 "unknown option -tok; did you mean --tokenize?" bleu -tok 13a c/test.tgt
refuses 2 "option --tokenize: '13b' is not one of" bleu --tokenise 13b c/test.tgt
refuses 2 "option --normalize: 'wu'; expected" translate --normalise wu $m
refuses 2 "option --preset: 'tinny' is not one of paper|base|tiny|demo|align; did you mean 'tiny'?" train --preset tinny
refuses 2 "option --unk: 'replce' is not one of allow|forbid|replace; did you mean 'replace'?" translate --unk replce $m
refuses 2 "unknown attention 'rela_g'; did you mean 'rela-g'?" train $small $train -a rela_g --out x
refuses 2 "unknown attention 'sparse'" train $small $train -a sparse --out x
refuses 2 "option --beam: 'four' is not a whole number" translate --beam four $m
refuses 2 "option --beam: 0 is out of range; expected 1..512" translate --beam 0 $m
refuses 2 "option --beam: '2.5' is not a whole number" translate --beam 2.5 $m
refuses 2 "option --dropout: 1.5 is out of range" train $small $train --dropout 1.5 --out x
refuses 2 "option --beam needs a value" translate $m --beam
refuses 2 "option --beam is given twice" translate --beam 2 --beam 3 $m
refuses 2 "--n-best 5 is more than --beam 4" translate --n-best 5 $m
refuses 2 "option --normalize: 'wu'; expected gnmt:NUMBER, power:NUMBER or none" translate --normalize wu $m
refuses 2 "option --sampling: 'top'" translate --sampling top $m
refuses 2 "missing argument MODEL; usage: rela translate MODEL..." translate
refuses 2 "missing argument MODEL; usage: rela translate MODEL..." translate -i c/test.src
refuses 2 "missing argument MODEL; usage: rela score MODEL... [SRC TGT]" score
refuses 2 "missing argument REF; usage: rela bleu REF [REF...]" bleu
refuses 2 "unexpected argument 'more'" info $m more
refuses 2 "unexpected argument 'c/train.src'; text goes with --train-src and --train-tgt" train c/train.src c/train.tgt
refuses 2 "unexpected argument 'more'; text goes with --src and --tgt" filter $m c/train.src c/train.tgt more
refuses 2 "'The old man sees' is not a model; input goes with -i, or through a pipe" translate $m 'The old man sees'
refuses 2 "'The old man sees' is not a model; input goes with -i, or through a pipe" translate 'The old man sees'
refuses 2 "'typo.en' is not a model; input goes with -i, or through a pipe" translate $m typo.en
refuses 1 "typo.rela: No such file or directory" translate $m typo.rela
refuses 2 "'c/test.src' is not a model; input goes with --src and --tgt" score $m c/test.src --src c/test.src --tgt c/test.tgt
refuses 2 "run/model.rela is a model: name the source and the target text after it" align $m c/test.src
accepts convert $m --to safetensors -o plain
refuses 2 "plain is a directory of plain weights: give --from safetensors" convert plain -o x.rela
for command in "score $m --src - --tgt -" "analyse $m --src - --tgt - --out x" "filter --src - --tgt - --dry-run" "corpus check --src - --tgt -" \
    "align $m - -" "bleu -" "tokenise - -" "translate $m --prefix -"; do
    refuses 2 "standard input can be read only once" $command
done
refuses 2 "option --input: the name is empty" translate --input= $m
refuses 2 "unknown option -no-escape; did you mean --no-escape?" tokenise -no-escape
refuses 2 "unknown option -i; name the two files: --src FILE --tgt FILE" align -i c/test.src
refuses 2 "unknown option -m; chrF has its own command: rela chrf" bleu -m chrf c/test.tgt
refuses 2 "unknown option --hyp; did you mean --input?" bleu --hyp c/test.tgt
refuses 2 "unknown option --sentence-level; did you mean --sentence?" chrf --sentence-level c/test.tgt
refuses 2 "unknown option --path; a model is named without an option" translate --path $m
refuses 2 "unknown option --models; a model is named without an option" translate --models $m
refuses 2 "unknown option --model; did you mean --out?" train --model $m
refuses 2 "unknown option --src; did you mean --input?" translate --src c/test.src $m
refuses 2 "unknown option --compute_type; did you mean --to int8?" convert --compute_type int8 $m
refuses 2 "unknown option --train_steps; did you mean --updates?" train --train_steps 9
refuses 2 "unknown option --world_size; for several processes: mpirun -n N rela train ..." train --world_size 2
refuses 2 "unknown option --resume; run again with the same --out" train --resume run
refuses 2 "unknown option --input; files are named without an option" bpe learn --input c/test.src
refuses 2 "unknown option --vocab-size; did you mean --symbols?" bpe learn --vocab-size 9
refuses 2 "option --seed: -1 is out of range; expected 0..9007199254740991" train --seed -1
refuses 2 "option --form: 'NFC' is not one of as-is|nfc|nfkc; did you mean 'nfc'?" normalise -f NFC c/test.tgt
refuses 2 "unknown option -output; did you mean --output?" translate $m -output x
refuses 2 "unknown option -threads; did you mean --threads?" tokenise -threads 4
refuses 2 "unknown attention 'rela'; did you mean rela-i or rela-g or rela-g-ln or rela-tl or rela-t?" train $small $train -a rela --out x
refuses 2 "unknown attention 'entmax-1.5'; did you mean 'entmax15'?" train $small $train -a entmax-1.5 --out x
refuses 2 "attention '2=softmax,rela-g': no layer 2; there is only 1" train $small $train --attention-enc 2=softmax,rela-g --out x

# files
refuses 2 "'text' is not a model; input goes with -i" translate $m text
refuses 3 "text: not a model file" translate text
refuses 3 "c/test.src: not a model file" translate c/test.src
! grep -q 'header' lib.err || fail "a text as model: $(cat lib.err)"
refuses 1 "missing.rela: No such file or directory" translate missing.rela
refuses 1 "missing.en: No such file or directory" translate $m -i missing.en
refuses 3 "cut.rela: not a model file, or one that was cut off" translate cut.rela
refuses 3 "damaged.rela: damaged; copy it again" translate damaged.rela
refuses 3 "damaged.rela: damaged; copy it again" info damaged.rela
"$RELA" info run >card && grep -q '^file *run/model.rela$' card || fail "info of a run: $(cat card)"
"$RELA" info run/ >card && grep -q '^file *run/model.rela$' card || fail "info of a run: $(cat card)"
"$RELA" translate run </dev/null 2>lib.err || fail "a run as model: $(cat lib.err)"
grep -q 'the model of run is run/model.rela$' lib.err || fail "a run as model: $(cat lib.err)"
n_checks=$((n_checks + 3))
refuses 1 "c is a directory, not a model" score c --src c/test.src --tgt c/test.tgt
refuses 1 "./c is a directory, not a model" info ./c
refuses 3 "ends before line" score $m --src c/train.src --tgt c/valid.tgt
refuses 2 "no text: name the two files, or --src and --tgt" score $m --src c/train.src
refuses 2 "no text: name the two files, or --src and --tgt" score $m
refuses 2 "no model: rela score MODEL SRC TGT" score c/test.src c/test.tgt
refuses 2 "run/model.rela is a model: name the source and the target text after it" score $m c/test.src
refuses 2 "run/model.rela is a model: name the source and the target text after it" filter $m c/test.src --dry-run
refuses 2 "texts are operands or --src and --tgt, not both" filter $m c/test.src c/test.tgt --src c/test.src --dry-run
refuses 2 "name both files: c/test.src is one side, or give it as --tsv" corpus check c/test.src
refuses 3 "no translation on standard input; to score c/valid.tgt against c/test.tgt: rela bleu c/test.tgt -i c/valid.tgt" bleu c/test.tgt c/valid.tgt
refuses 3 "no translation on standard input; to score c/valid.tgt against c/test.tgt: rela chrf c/test.tgt -i c/valid.tgt" chrf c/test.tgt c/valid.tgt
refuses 2 "no text: name the two files" align $m --src c/train.src
refuses 1 "No such file or directory" bleu missing.de
refuses 2 "--output is the input --input" translate $m -i c/test.src -o c/test.src
refuses 2 "option --codes is missing" bpe apply c/test.src
refuses 2 "no output; give one with --output" convert $m
refuses 2 "--input-2: the model has 1 source" translate $m -i c/test.src --input-2 c/test.src
refuses 2 "no text: name the two files, or --src and --tgt, or --tsv" corpus check --src c/test.src
refuses 2 "--src, --tgt and --out are needed" analyse $m --src c/test.src
refuses 2 "--out-src and --out-tgt are needed, or --dry-run" filter --src c/test.src --tgt c/test.tgt
refuses 2 "--keep and --heads need a model" filter --src c/test.src --tgt c/test.tgt --dry-run --keep 0.5
refuses 2 "--min-words 5 is more than --max-words 3" filter --src c/test.src --tgt c/test.tgt --dry-run --min-words 5 --max-words 3
refuses 2 "no layer 9; the model has 1" filter $m --src c/test.src --tgt c/test.tgt --dry-run --heads 9:1
refuses 2 "--heads: '9' is no list of heads; expected layer:head,... from 1" filter $m --src c/test.src --tgt c/test.tgt --dry-run --heads 9
refuses 1 "'make demo-model install' makes it" translate demo
refuses 2 "unknown command 'corpus chek'; did you mean 'check'?" corpus chek
head -c 30000 run/model.rela >short.rela
refuses 3 "it is cut short; copy it again" translate short.rela
head -n 1 c/test.src >one
refuses 3 "one has 1 line but c/test.tgt has " filter --src one --tgt c/test.tgt --dry-run
accepts filter --src c/test.src --tgt c/test.tgt --dry-run
! grep -q ' $' lib.out || fail "blanks at the end of a line: $(cat lib.out)"
accepts analyse $m --src c/test.src --tgt c/test.tgt --out analysis --quiet
awk '/encoder/ { label = index($0, "cross") + 5 } /sparsity/ { exit length($0) + 1 != label }' lib.out || fail "columns: $(cat lib.out)"
accepts train --show-config --preset tiny # needs no text and no directory
grep -qx 'preset: "tiny"' lib.out || fail "--show-config: $(head -n 3 lib.out)"
refuses 2 "no layer 7; the model has 1" align $m --src c/test.src --tgt c/test.tgt --layer 7
refuses 2 "--head needs --layer" align $m --src c/test.src --tgt c/test.tgt --head 1
refuses 1 "cannot be opened" translate --log missing/log $m
refuses 1 "missing" translate $m -i c/test.src -o missing/out

# training
refuses 2 "validation needs both --valid-src and --valid-tgt" train $small $train --valid-src c/valid.src --out x
refuses 2 "--share-encoders and --cross are for several sources: --train-src-2" train $small $train --share-encoders --out x
refuses 1 "nocodes: No such file or directory" train $small $train --codes nocodes --out x
refuses 1 "novocab: No such file or directory" train $small $train --codes text --vocab-src novocab --out x
refuses 3 "text: not a model file" train $small $train --init text --out x
refuses 2 "no training text: options --train-src and --train-tgt" train --preset demo --out x
refuses 2 "--best-by bleu contradicts --valid-beam 0, which computes none" train $small $train --valid-src c/valid.src --valid-tgt c/valid.tgt --best-by bleu --valid-beam 0 --out x
refuses 2 "option --date: 'yesterday' is not like 2026-01-31" train $small $train --date yesterday --out x
refuses 2 "option --date: '2026-13-01' is not like 2026-01-31" train $small $train --date 2026-13-01 --out x
SOURCE_DATE_EPOCH=abc
export SOURCE_DATE_EPOCH
refuses 2 "SOURCE_DATE_EPOCH: 'abc' is not a number of seconds" train $small $train --out x
unset SOURCE_DATE_EPOCH
refuses 2 "1 x --train-src, but 0 x --train-tgt" train --train-src c/train.src --out x
refuses 1 "missing.src: No such file or directory" train $small --train-src missing.src --train-tgt c/train.tgt --out x
refuses 2 "width 32 is not a multiple of 3 heads" train --preset demo --width 32 --heads 3 $train --out x
refuses 1 "width was 32, now 64" train --preset demo --merges 20 --width 64 --ffn 32 --heads 2 --enc-layers 1 --dec-layers 1 --updates 2 \
    --batch-tokens 300 $train --out run
refuses 1 "c/train.src: cannot be made: Not a directory" train $small $train --out c/train.src
refuses 1 "missing.de: No such file or directory" train $small $train --valid-src c/valid.src --valid-tgt missing.de --out x
printf 'preset: tiny\nwidht: 32\n' >config.yml
refuses 2 "config.yml: line 2: unknown key 'widht'; did you mean 'width'?" train --config config.yml $train --out x
printf 'preset: demo\n  width: 32\n' >config.yml
refuses 2 "config.yml: line 2: indented, so it continues the value of line 1" train --config config.yml $train --out x
printf 'preset: [tiny\n' >config.yml
refuses 2 "config.yml: line" train --config config.yml $train --out x
[ ! -e x ] || [ ! -e x/model.rela ] || fail "a model came out of a mistake"

# what is done all the same, with a warning
: >c/none
warns() { # MESSAGE ARGUMENT...
    message=$1
    shift
    n_checks=$((n_checks + 1))
    "$RELA" "$@" <c/test.src >lib.out 2>lib.err || fail "rela $*: $(cat lib.err)"
    [ "$(grep -cF -- "$message" lib.err)" -eq 1 ] || fail "rela $*: expected '$message' once, got: $(head -n 3 lib.err)"
}
warns "c/none: no pairs" score $m --src c/none --tgt c/none
warns "--temperature has no effect without --sampling" translate --temperature 2 $m
warns "--beam has no effect with --sampling" translate --sampling full --beam 4 $m
warns "--valid-beam has no effect without --valid-src or --valid-tsv" train $small $train --valid-beam 2 --out run
"$RELA" train --config run/config.yml 2>lib.err || fail "config.yml: $(cat lib.err)"
! grep -q 'no effect' lib.err || fail "the settings of a run: $(grep 'no effect' lib.err)"
warns "--layer has no effect without --alignment" translate --layer 1 $m
warns "--head has no effect without --alignment" translate --head 1 $m
warns "--samples has no effect without --confidence" bleu --samples 10 c/test.tgt
warns "--smooth-value has no effect without --smooth" bleu --smooth-value 1 c/test.tgt
warns "--by has no effect without MODEL" filter --src c/test.src --tgt c/test.tgt --dry-run --by null
warns "--symmetrise has no effect without --reverse" align $m --src c/test.src --tgt c/test.tgt --symmetrise union
warns "--gold-base has no effect without --best-on" align $m --src c/test.src --tgt c/test.tgt --gold-base 1
warns "--attn-window has no effect without --attention local" train --show-config --attn-window 4
warns "--attn-alpha has no effect without --attention entmax" train --show-config -a entmax15 --attn-alpha 1.3
warns "--attention has no effect with --attention-enc, --attention-dec and --attention-cross" train --show-config \
    -a softmax --attention-enc rela-g --attention-dec rela-g --attention-cross rela-g
warns "--lr-least has no effect without --cool-down, --schedule cosine, --schedule linear or --preset align" train --show-config --lr-least 0.1
warns "--src-lang-2 has no effect without --train-src-2 or --train-tsv" train --show-config --src-lang-2 fr
warns "--warmup 900 is more than --updates 600: the learning rate does not reach its peak" train --show-config --preset demo --warmup 900
warns "--cool-down 900 is more than --updates 600: the learning rate falls from the start" train --show-config --preset demo --cool-down 900
warns "--keep 2 is less than --average 10, which are kept" train --show-config --keep 2
warns "--json has no effect with --show-config" train --show-config --json
warns "--json has no effect with 'rela tokenise'" tokenise --json
warns "--seed has no effect with 'rela truecase learn'" truecase learn --seed 3
warns "--seed has no effect with 'rela score'" score $m --src c/test.src --tgt c/test.tgt --seed 3
warns "--seed has no effect without --sampling" translate --seed 3 $m
warns "--seed has no effect without --confidence" chrf --seed 3 c/test.tgt
warns "--tokenize has no effect with --metric chrf" compare --metric chrf -k intl c/test.tgt c/test.src c/test.src
warns "--char-order has no effect with --metric bleu" compare --metric bleu --char-order 3 c/test.tgt c/test.src c/test.src
warns "--trials has no effect with --test bs" compare --test bs --trials 9 c/test.tgt c/test.src c/test.src
warns "--heads has no effect without --by combined, --by null or --scores" filter $m --src c/test.src --tgt c/test.tgt --dry-run --by logprob --heads 1:1
warns "--out-src has no effect with --dry-run" filter --src c/test.src --tgt c/test.tgt --dry-run --out-src x.src
warns "--src-lang has no effect without --tokenise" align c/test.src c/test.tgt --src-lang fr --updates 3
warns "--src-lang has no effect with --split never" translate --split never --src-lang de $m
"$RELA" bpe learn -s 9 -o codes c/test.src 2>/dev/null
warns "--vocabulary-threshold has no effect without --vocabulary" bpe apply -c codes --vocabulary-threshold 9
warns "only 0 merges: no pair has frequency 90000" bpe learn --min-frequency 90000
accepts translate --quiet --seed 3 $m
accepts train --show-config -a rela-g --attention-enc 1=local --attn-window 4
accepts train --show-config --preset align --lr-least 0.1
# text in another encoding: the file, the line and the remedy
printf 'der Esel\ndie Kuh ist gro\337 .\ndas \334bel\n' >latin1
printf '\377\376t\000h\000e\000\n\000' >utf16
warns "latin1: line 2 is not UTF-8; if it is LATIN1: iconv -f LATIN1 -t UTF-8 (reported once)" translate $m -i latin1
warns "utf16: line 1 is not UTF-8; if it is UTF-16: iconv -f UTF-16 -t UTF-8 (reported once)" translate $m -i utf16
printf 'the cow\na\000b\n' >nul
printf '\001\002\200\000\003\377\201\004\n' >binary
printf 'the cow\nder B\303\244r fri\303 \303\237t\n' >damaged
printf 't\000h\000e\000 \000c\000\344\000w\000\n\000' >unmarked
warns "nul: line 2 contains a NUL byte (reported once)" translate $m -i nul
warns "binary: line 1 is not UTF-8 (reported once)" translate $m -i binary
warns "damaged: line 2 is not UTF-8 (reported once)" translate $m -i damaged
warns "unmarked: line 1 is not UTF-8; if it is UTF-16" tokenise unmarked
warns "latin1: line 2 is not UTF-8; if it is LATIN1" align $m latin1 latin1
for command in tokenise normalise split detokenise "truecase learn" "truecase undo" "bpe undo" "bpe learn" vocab; do
    warns "latin1: line 2 is not UTF-8; if it is LATIN1: iconv -f LATIN1 -t UTF-8 (reported once)" $command c/train.src latin1
done
warns "latin1: line 2 is not UTF-8; if it is LATIN1" bleu latin1 -i latin1
warns "utf16: line 1 is not UTF-8; if it is UTF-16" vocab utf16
refuses 2 "no source 2; the model has 1 source" translate --source 2 $m
refuses 2 "--layer 7; the model has 1 decoder layer" translate --alignment hard --layer 7 $m
refuses 2 "--head 3; the model has 2 heads" translate --alignment hard --head 3 $m

# At most ten warnings of a kind.
i=0
while [ $i -lt 14 ]; do
    awk 'BEGIN { for (i = 0; i < 400; i++) printf "word "; print "" }'
    i=$((i + 1))
done >long
"$RELA" translate -b 1 --max-length-factor 0 --max-length-extra 1 --long cut $m -i long >lib.out 2>lib.err
[ "$(grep -c 'longer than the' lib.err)" -eq 11 ] || fail "warnings: $(grep -c 'longer than the' lib.err)"
grep -q "^rela: 4 more warnings like 'long: line 1: longer" lib.err || fail "no count of warnings: $(tail -n 1 lib.err)"
"$RELA" align $m --src long --tgt long >lib.out 2>lib.err
[ "$(grep -c 'longer than' lib.err)" -eq 11 ] && grep -q "^rela: 4 more warnings like 'long: line 1: longer" lib.err || fail "warnings of align: $(tail -n 2 lib.err)"
"$RELA" view $m --src long --tgt long -o long.html >lib.out 2>lib.err && fail "view: lines that are too long"
grep -Eq "^rela: warning: line 14?: a side is empty or longer than the [0-9]+ tokens that the model takes: left out$" lib.err ||
    fail "warnings of view: $(head -n 1 lib.err)"

# texts after the model
for command in "score $m" "filter $m --dry-run" "filter --dry-run" "corpus check"; do
    # shellcheck disable=SC2086
    accepts $command --quiet c/train.src c/train.tgt
    mv lib.out operands
    # shellcheck disable=SC2086
    accepts $command --quiet --src c/train.src --tgt c/train.tgt
    cmp operands lib.out || fail "$command: texts as operands are other texts"
done
{ sleep 3; cat c/test.tgt; } | "$RELA" bleu c/test.tgt c/test.tgt >bleu.out 2>bleu.err || fail "bleu: $(cat bleu.err)"
grep -q 'waiting for the translation on standard input; for one in a file: rela bleu c/test.tgt -i c/test.tgt' bleu.err ||
    fail "bleu waits in silence: $(cat bleu.err)"
finish
