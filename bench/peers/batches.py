# SPDX-License-Identifier: MIT
"""Updates for trainers that are to be compared, in a file as described in bench/batches.h.

The text is a pair of files, split into subwords by rela, or random tokens in sentences as long as those of
`rela bench translate`; a random target is as long as its source, so that padding costs the others little.
"""
import array
import collections
import itertools
import os
import random

from environment import Failure, run

UNK, EOS, FIRST = 1, 2, 3
VOCAB = 10000
PAIRS, PAIRS_MOST, LONGEST = 29000, 200000, 100


def write(path, tokens, updates, text, rela, work):
    """So many updates of about so many target tokens, sentences of like lengths together."""
    pairs = read(*text, rela, work) if text else draw()
    with open(path, "wb") as f:
        for group in itertools.islice(groups(pairs, tokens), updates):
            record = array.array("i", [len(group)])
            for pair in group:
                record.extend(map(len, pair))
            for side in range(2):
                for pair in group:
                    record.extend(pair[side])
            record.tofile(f)


def groups(pairs, tokens):
    """Without end: each pass through the pairs makes other groups."""
    rng = random.Random(1)
    while True:
        rng.shuffle(pairs)
        # Source lengths rise and fall in turn: neighbours are alike where the target gets longer, too.
        pairs.sort(key=lambda p: (len(p[1]), len(p[0]) * (-1)**len(p[1])))
        made, group, size = [], [], 0
        for pair in pairs:
            group.append(pair)
            size += len(pair[1])
            if size >= tokens:
                made.append(group)
                group, size = [], 0
        if not made:
            raise Failure(f"the text has {size} target tokens; expected at least {tokens}, those of one update")
        rng.shuffle(made)
        yield from made


def draw():
    rng = random.Random(1)

    def sentence(n):
        return [rng.randrange(FIRST, VOCAB) for _ in range(n)] + [EOS]

    lengths = (min(LONGEST, max(4, round(13 * rng.lognormvariate(0, 0.33)))) for _ in range(PAIRS))
    return [(sentence(n), sentence(n)) for n in lengths]


def read(src, tgt, rela, work):
    """Pairs of ids, the frequent subwords of both languages first."""
    codes = os.path.join(work, "codes")
    run(rela, "bpe", "learn", "-q", "-s", VOCAB, src, tgt, "-o", codes)
    sides = [run(rela, "bpe", "apply", "-q", "-c", codes, side).split("\n")[:-1] for side in (src, tgt)]
    if len(sides[0]) != len(sides[1]):
        raise Failure(f"{src} has {len(sides[0])} lines and {tgt} {len(sides[1])}; expected a parallel text")
    pairs = [(s.split(), t.split()) for s, t in itertools.islice(zip(*sides), PAIRS_MOST)]
    pairs = [p for p in pairs if all(0 < len(x) <= LONGEST for x in p)]
    count = collections.Counter(word for pair in pairs for side in pair for word in side)
    index = {word: i for i, (word, _) in enumerate(count.most_common(VOCAB - FIRST), FIRST)}
    return [tuple([index.get(word, UNK) for word in side] + [EOS] for side in pair) for pair in pairs]
