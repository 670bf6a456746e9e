#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""metric.py OUTPUT: golden cases of BLEU, chrF, multi-bleu, AER, symmetrisation and resampling.

BLEU and chrF come from sacrebleu 2.6.0. The rest is computed here from the published definitions,
in the plainest way: nothing is shared with the C code. All sentences are made up.
"""
import json
import math
import random
import sys
from collections import Counter

from sacrebleu.metrics import BLEU, CHRF

SETS = {
    "plain": {
        "hyp": ["The baker opens his shop at six.", "A red kite flew over the old mill.",
                "Nobody knew where the ladder was.", "She counted the boats twice."],
        "refs": [["The baker opens the shop at six.", "A red kite was flying over the old mill.",
                  "Nobody knew where the ladder was.", "She counted all the boats two times."]],
    },
    "identical": {
        "hyp": ["Snow fell on the harbour all night.", "Two geese crossed the road, slowly."],
        "refs": [["Snow fell on the harbour all night.", "Two geese crossed the road, slowly."]],
    },
    "nothing-in-common": {
        "hyp": ["alpha beta gamma delta", "one two three"],
        "refs": [["red green blue yellow", "four five six seven"]],
    },
    "empty-lines": {
        "hyp": ["", "The pump works again.", "", "   ", "Tea?"],
        "refs": [["", "The pump is working again.", "Not empty here.", "\t ", ""]],
    },
    "all-empty": {"hyp": ["", ""], "refs": [["", ""]]},
    "empty-hyp": {"hyp": ["", ""], "refs": [["some words are here", "and here"]]},
    "empty-ref": {"hyp": ["some words are here", "and here"], "refs": [["", ""]]},
    "one-word": {"hyp": ["Yes", "No", "Perhaps", "!"], "refs": [["Yes", "Never", "Perhaps", "!"]]},
    "two-words": {"hyp": ["good morning", "thank you"], "refs": [["good evening", "thank you"]]},
    "three-refs": {
        "hyp": ["The small dog sleeps under the table.", "It rained for 3 days.", "He left early.",
                "the the the the the the the"],
        "refs": [
            ["The little dog is sleeping under the table.", "It was raining for three days.",
             "He left early.", "the cat is on the mat"],
            ["A small dog sleeps beneath the table.", "There was rain for 3 days.",
             "He went away early in the day.", "there is a cat on the mat"],
            ["Under the table the small dog sleeps.", "For three days it rained.", "Early he left.",
             "a cat is on the mat of the house"],
        ],
    },
    "missing-refs": {
        "hyp": ["The valve is shut.", "Turn the wheel to the left.", "Wait for the green lamp."],
        "refs": [
            ["The valve is closed.", None, ""],
            [None, "Turn the wheel left.", "Wait until the lamp is green."],
            ["The valve has been shut.", "", None],
        ],
    },
    "entities": {
        "hyp": ["He said &quot;stop&quot; &amp; left.", "if a &lt; b then b &gt; a", "&amp;lt; twice",
                "Tom &amp; Ann&apos;s boat", "a<skipped>b and <skipped> c", "x&quot;y"],
        "refs": [["He said \"stop\" & left.", "if a < b then b > a", "&lt; twice",
                  "Tom & Ann's boat", "ab and c", "x \" y"]],
    },
    "numbers": {
        "hyp": ["It costs 1,234.50 euros, or 3.5%.", "Version 2.0, 2-3 days, 1990-2010.",
                "Call 555-0199, ext. 4.", "pi=3.14159,e=2.718", "5.,6", "a.,5b 7.,x", ".5 and 5.",
                "$5.00-$6.00; 10:30 a.m.", "1.2.3.4", "...wait...what?..", "3,000,000.0,1"],
        "refs": [["It costs 1,234.5 euros, or 3.5 %.", "Version 2.0, 2 - 3 days, 1990 - 2010.",
                  "Call 555-0199, extension 4.", "pi = 3.14159, e = 2.718", "5., 6", "a., 5b 7. , x",
                  ".5 and 5 .", "$5.00 - $6.00; 10:30 am", "1.2.3.4.", "... wait ... what? ..",
                  "3,000,000.0 ,1"]],
    },
    "dashes": {
        "hyp": ["well-known state-of-the-art work", "a \u2013 b \u2014 c", "ice\u2010cream 7-up 7\u20138",
                "end-\nof line", "soft-\nware and hard-\n ware", "one\ntwo three", "-5 - -6 --7"],
        "refs": [["well - known state of the art work", "a - b - c", "ice-cream 7 - up 7 \u2013 8",
                  "endof line", "software and hard ware", "one two three", "- 5 - - 6 -- 7"]],
    },
    "symbols": {
        "hyp": ["100\u20ac + 50\u00a3 = ?", "\u00a9 2031 \u00abQuote\u00bb \u201eunten\u201c", "x\u00b2\u00d7y\u00bd\u2264z",
                "A\u2192B \u2026 end\u2026", "\u0664\u0665,\u0666 \u2167. \u00bc.", "~`^_|{}[]\\@#%*+=<>/;:'\"",
                "it's o'clock \u2019tis rock\u2019n\u2019roll", "$1 \u00a35 \u20b910.50, \u00b15%"],
        "refs": [["100 \u20ac + 50 \u00a3 = ?", "\u00a9 2031 \u00ab Quote \u00bb \u201e unten \u201c",
                  "x\u00b2 \u00d7 y\u00bd \u2264 z", "A \u2192 B \u2026 end \u2026", "\u0664\u0665 , \u0666 \u2167 . \u00bc .",
                  "~ ` ^ _ | { } [ ] \\ @ # % * + = < > / ; : ' \"",
                  "it 's o'clock ' tis rock 'n' roll", "$ 1 \u00a3 5 \u20b9 10.50 , \u00b1 5 %"]],
    },
    "cjk": {
        "hyp": ["\u4eca\u5929\u5929\u6c14\u5f88\u597d\uff0c\u6211\u4eec\u53bb\u516c\u56ed\u3002", "\u732b\u304c\u7a93\u306e\u4e0a\u3067\u5bdd\u3066\u3044\u308b\u3002",
                "\ub098\ubb34 \uc544\ub798\uc5d0 \uc758\uc790\uac00 \uc788\ub2e4.", "\u5168\u89d2\u3000\u7a7a\u767d \uff11\uff12\uff0c\uff13"],
        "refs": [["\u4eca\u5929\u5929\u6c14\u4e0d\u9519\uff0c\u6211\u4eec\u53bb\u516c\u56ed\u5427\u3002", "\u732b\u306f\u7a93\u306e\u305d\u3070\u3067\u5bdd\u3066\u3044\u308b\u3002",
                  "\ub098\ubb34 \ubc11\uc5d0 \uc758\uc790\uac00 \uc788\ub2e4 .", "\u5168\u89d2 \u7a7a\u767d \uff11\uff12 \uff0c \uff13"]],
    },
    "emoji": {
        "hyp": ["Nice \U0001F600\U0001F600!", "family \U0001F468\u200d\U0001F469\u200d\U0001F467 photo", "flag \U0001F1E9\U0001F1EA ok\u2714\ufe0f",
                "thumbs \U0001F44D\U0001F3FD up", "\u2764 it"],
        "refs": [["Nice \U0001F600 \U0001F600 !", "family \U0001F468\u200d\U0001F469\u200d\U0001F466 photo", "flag \U0001F1EB\U0001F1F7 ok \u2714\ufe0f",
                  "thumbs \U0001F44D up", "\u2764\ufe0f it"]],
    },
    "case": {
        "hyp": ["THE Ship SAILS At Dawn", "\u00c4RGER \u00dcBER \u00d6L", "\u039f\u0394\u039f\u03a3 \u03a3\u0391\u03a3. \u03a3'\u03a3 \u03a3", "\u0130stanbul ISPARTA I\u0307",
                "STRASSE \u1e9eTOR", "\u0416\u0423\u041a \u0438 \u0416\u0430\u0431\u0410", "\u01c4 \u01c5 \u01c6", "\u24b6\u24b7 \u2160\u2161\u2162", "A\u03a3B A\u03a3\u0301 A\u03a3\u00b7 \u24b6\u03a3 \u00aa\u03a3"],
        "refs": [["the ship sails at dawn", "\u00e4rger \u00fcber \u00f6l", "\u03bf\u03b4\u03bf\u03c2 \u03c3\u03b1\u03c2. \u03c3'\u03c2 \u03c3", "i\u0307stanbul isparta i\u0307",
                  "strasse \u00dftor", "\u0436\u0443\u043a \u0438 \u0436\u0430\u0431\u0430", "\u01c6 \u01c6 \u01c6", "\u24d0\u24d1 \u2170\u2171\u2172", "a\u03c3b a\u03c2\u0301 a\u03c2\u00b7 \u24d0\u03c2 \u00aa\u03c2"]],
    },
    "blanks": {
        "hyp": [" leading and  double  ", "tab\tand\u00a0no-break", "thin\u2009space\u2003em", "line\u2028sep\u2029para",
                "\u200bzero\u200bwidth", "file\x1csep\x1fend", "next\u0085line", "vt\x0bff\x0ccr\rend", "nul\x00inside word"],
        "refs": [["leading and double", "tab and no-break", "thin space em", "line sep para",
                  "zero width", "file sep end", "next line", "vt ff cr end", "nul\x00inside words"]],
    },
    "punctuation": {
        "hyp": ["\"Well,\" he said, \"who's there?\"", "(see p. 12, ch. 3)", "Mr. Holt, Jr., Ph.D.",
                "e.g. this; i.e. that", "wait... no!?", "http://a.example/b?c=d&e=f#g",
                "a/b and/or c", "[1] {2} <3>", "!", "(hi) hi) (hi -hi- 'tis", "\u00bfQu\u00e9? \u00a1S\u00ed!"],
        "refs": [["\"Well\", he said, \"who is there?\"", "(see page 12, chapter 3)", "Mr Holt Jr., PhD",
                  "e. g. this ; i. e. that", "wait ... no ! ?", "http : //a.example/b ? c=d & e=f # g",
                  "a / b and / or c", "[ 1 ] { 2 } < 3 >", "! !", "( hi ) hi ) ( hi - hi - ' tis",
                  "\u00bf Qu\u00e9 ? \u00a1 S\u00ed !"]],
    },
    "repeats": {
        "hyp": ["na na na na na na na na hey", "a b a b a b a b", "aaaa aaaa aaaa"],
        "refs": [["na na na hey hey", "b a b a b a", "aaaa aaa aaaaa aaaa"],
                 ["na na na na na", "a b b a", "aaaa"]],
    },
    "long": {
        "hyp": [" ".join("w%d" % (i * 7 % 23) for i in range(60)), " ".join("v%d" % (i % 11) for i in range(45))],
        "refs": [[" ".join("w%d" % (i * 7 % 29) for i in range(64)), " ".join("v%d" % (i % 13) for i in range(40))]],
    },
    "combining": {
        "hyp": ["e\u0301 caf\u00e9 cafe\u0301", "\u0301\u0301\u0301", "\u202eabc\u202c def", "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e\u0964", "\u0645\u0631\u062d\u0628\u0627\u060c \u0628\u0643\u061f"],
        "refs": [["\u00e9 caf\u00e9 caf\u00e9", "\u0301", "abc def", "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e \u0964", "\u0645\u0631\u062d\u0628\u0627 \u060c \u0628\u0643 \u061f"]],
    },
}

TOKENS = ["13a", "intl", "char", "none"]


def bleu_case(name, tok="13a", smooth="exp", value=None, order=4, lc=False, eff=False):
    data = SETS[name]
    metric = BLEU(lowercase=lc, tokenize=tok, smooth_method=smooth, smooth_value=value,
                  max_ngram_order=order, effective_order=eff, force=True)
    score = metric.corpus_score(data["hyp"], data["refs"])
    single = BLEU(lowercase=lc, tokenize=tok, smooth_method=smooth, smooth_value=value,
                  max_ngram_order=order, effective_order=True, force=True)
    lines = [single.sentence_score(h, [r[i] for r in data["refs"] if r[i] is not None]).score
             for i, h in enumerate(data["hyp"])]
    return {"set": name, "tok": tok, "smooth": smooth, "value": -1 if value is None else value,
            "order": order, "lc": int(lc), "eff": int(eff), "score": score.score, "bp": score.bp,
            "prec": score.precisions, "len": [int(score.sys_len), int(score.ref_len)],
            "lines": lines, "sign": str(metric.get_signature()).rsplit("|", 1)[0]}


def bleu_cases():
    cases = []
    for name in SETS:
        for tok in TOKENS:
            cases.append(bleu_case(name, tok))
            cases.append(bleu_case(name, tok, lc=True, smooth="floor"))
    for name in ["plain", "one-word", "two-words", "three-refs", "empty-lines", "numbers", "long",
                 "missing-refs", "nothing-in-common"]:
        for smooth, value in [("none", None), ("floor", 0.01), ("add-k", None), ("add-k", 0.5)]:
            cases.append(bleu_case(name, smooth=smooth, value=value))
        cases.append(bleu_case(name, eff=True))
        cases.append(bleu_case(name, order=1))
        cases.append(bleu_case(name, order=2, smooth="add-k"))
        cases.append(bleu_case(name, order=7))
    return cases


def chrf_case(name, nc=6, nw=0, beta=2, lc=False, space=False, eps=False):
    data = SETS[name]
    metric = CHRF(char_order=nc, word_order=nw, beta=beta, lowercase=lc, whitespace=space,
                  eps_smoothing=eps)
    score = metric.corpus_score(data["hyp"], data["refs"])
    lines = [metric.sentence_score(h, [r[i] for r in data["refs"] if r[i] is not None]).score
             for i, h in enumerate(data["hyp"])]
    return {"set": name, "nc": nc, "nw": nw, "beta": beta, "lc": int(lc), "space": int(space),
            "eps": int(eps), "score": score.score, "lines": lines, "name": score.name,
            "sign": str(metric.get_signature()).rsplit("|", 1)[0]}


def chrf_cases():
    cases = []
    for name in SETS:
        cases.append(chrf_case(name))
        cases.append(chrf_case(name, nw=2))
        cases.append(chrf_case(name, nw=2, lc=True, eps=True))
        cases.append(chrf_case(name, space=True))
    for name in ["plain", "three-refs", "empty-lines", "cjk", "missing-refs"]:
        cases.append(chrf_case(name, nc=3, beta=1))
        cases.append(chrf_case(name, nc=10, nw=4, beta=3))
        cases.append(chrf_case(name, eps=True, space=True))
    return cases


def multi_bleu(hyps, refs, lowercase):
    """The published script multi-bleu.perl in other words: bytes, ASCII blanks, no smoothing."""
    correct, total = [0] * 5, [0] * 5
    hyp_len = ref_len = 0
    for i, hyp in enumerate(hyps):
        lines = [hyp.encode()] + [r[i].encode() for r in refs]
        if lowercase:
            lines = [x.lower() for x in lines]  # bytes: ASCII only
        words, *others = [x.split() for x in lines]
        allowed = Counter()
        for other in others:
            own = Counter(tuple(other[j:j + n]) for n in range(1, 5)
                          for j in range(len(other) - n + 1))
            allowed |= own
        hyp_len += len(words)
        ref_len += min((abs(len(words) - len(o)), len(o)) for o in others)[1]
        for n in range(1, 5):
            mine = Counter(tuple(words[j:j + n]) for j in range(len(words) - n + 1))
            total[n] += sum(mine.values())
            correct[n] += sum((mine & allowed).values())
    prec = [correct[n] / total[n] if total[n] else 0 for n in range(1, 5)]
    bp = 1.0 if hyp_len >= ref_len else math.exp(1 - ref_len / hyp_len) if hyp_len else 0.0
    score = bp * math.exp(sum(math.log(p) for p in prec) / 4) if all(prec) else 0.0
    return {"score": 100 * score, "bp": bp, "prec": [100 * p for p in prec],
            "len": [hyp_len, ref_len]}


def multi_cases():
    return [dict(set=name, lc=int(lc), **multi_bleu(SETS[name]["hyp"], SETS[name]["refs"], lc))
            for name in SETS if name != "missing-refs" for lc in (False, True)]


def random_links(rng, n_src, n_tgt, n, marks="-"):
    return [(rng.randrange(n_src), rng.randrange(n_tgt), rng.choice(marks)) for _ in range(n)]


def write_links(links, base=0, reverse=False):
    return " ".join("%d%s%d" % ((j + base, m, i + base) if reverse else (i + base, m, j + base))
                    for i, j, m in links)


def aer_case(seed):
    rng = random.Random(seed)
    base, gold_base, reverse = rng.randrange(2), rng.randrange(2), rng.randrange(2)
    gold_lines, link_lines = [], []
    a = s = a_s = a_p = p = 0
    for _ in range(rng.randint(1, 5)):
        n_src, n_tgt = rng.randint(1, 7), rng.randint(1, 7)
        gold = random_links(rng, n_src, n_tgt, rng.randint(0, 10), "--?p")
        found = random_links(rng, n_src, n_tgt, rng.randint(0, 10))
        gold_lines.append(write_links(gold, gold_base))
        link_lines.append(write_links(found, base, reverse))
        sure = {(i, j) for i, j, m in gold if m == "-"}
        possible = {(i, j) for i, j, m in gold}
        links = {(i, j) for i, j, m in found}
        a, s, p = a + len(links), s + len(sure), p + len(possible)
        a_s, a_p = a_s + len(links & sure), a_p + len(links & possible)
    precision, recall = a_p / a if a else 0, a_s / s if s else 0
    return {"gold": gold_lines, "links": link_lines, "base": base, "gold_base": gold_base,
            "reverse": reverse, "aer": 1 - (a_s + a_p) / (a + s) if a + s else 0,
            "p": precision, "r": recall,
            "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0,
            "n": [a, s, p]}


NEIGHBOURS = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]


def symmetrise(forward, backward, method):
    """Rounds over the whole grid, as the published pseudo-code and atools do."""
    union, taken = forward | backward, forward & backward
    if method == "union":
        return union
    if method == "intersect":
        return taken

    def linked(i, j):
        return any(x == i for x, _ in taken), any(y == j for _, y in taken)

    added = True
    while added:
        added = False
        for i, j in sorted(union - taken):
            near = any((i + di, j + dj) in taken for di, dj in NEIGHBOURS)
            if near and not all(linked(i, j)):
                taken = taken | {(i, j)}
                added = True
    if method == "grow-diag":
        return taken
    for links in (forward, backward):
        for i, j in sorted(links - taken):
            if not (any if method.endswith("and") else all)(linked(i, j)):
                taken = taken | {(i, j)}
    return taken


METHODS = ["intersect", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]


def symmetrise_case(seed):
    rng = random.Random(1000 + seed)
    n_src, n_tgt = rng.randint(1, 9), rng.randint(1, 9)
    n = rng.randint(0, 14)
    forward = {(i, j) for i, j, _ in random_links(rng, n_src, n_tgt, n)}
    backward = {x for x in forward if rng.random() < 0.4}
    backward |= {(i, j) for i, j, _ in random_links(rng, n_src, n_tgt, rng.randint(0, 10))}
    text = lambda links: " ".join("%d-%d" % x for x in sorted(links))
    return [text(forward), text(backward)] + [text(symmetrise(forward, backward, m))
                                              for m in METHODS]


def philox(counter, key):
    """Philox 4x32-10 of Salmon et al. 2011."""
    c, k, mask = list(counter), list(key), 0xFFFFFFFF
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & mask, (p0 >> 32) ^ c[3] ^ k[1], p0 & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c


def words(seed, stream):
    mask, block = 0xFFFFFFFF, 0
    while True:
        yield from philox((block & mask, block >> 32, stream & mask, stream >> 32),
                          (seed & mask, seed >> 32))
        block += 1


def below(source, n):
    while True:
        m = next(source) * n
        if m & 0xFFFFFFFF >= (1 << 32) % n:
            return m >> 32


def interval(scores):
    scores = sorted(scores)
    n = len(scores)
    return [math.fsum(scores) / n, scores[n // 40], scores[n - n // 40 - 1]]


def compare_case(metric, name, refs, a, b, seed, samples, trials):
    stats_a = metric._extract_corpus_statistics(a, refs)
    stats_b = metric._extract_corpus_statistics(b, refs)
    n = len(a)

    def score(rows):
        return metric._aggregate_and_compute([list(r) for r in rows]).score

    seen = abs(score(stats_a) - score(stats_b))
    scores_a, scores_b, differences = [], [], []
    for i in range(samples):
        source = words(seed, i)
        rows = [below(source, n) for _ in range(n)]
        scores_a.append(score([stats_a[r] for r in rows]))
        scores_b.append(score([stats_b[r] for r in rows]))
    moved = [abs(y - x) for x, y in zip(scores_a, scores_b)]
    mean = sum(moved) / samples
    p_bs = (sum(x - mean >= seen for x in moved) + 1) / (samples + 1)
    for i in range(trials):
        source = words(seed, (1 << 40) + i)
        bits = []
        while len(bits) < n:
            word = next(source)
            bits += [word >> j & 1 for j in range(32)]
        x = score([stats_b[j] if bits[j] else stats_a[j] for j in range(n)])
        y = score([stats_a[j] if bits[j] else stats_b[j] for j in range(n)])
        differences.append(abs(x - y))
    p_ar = (sum(x >= seen for x in differences) + 1) / (trials + 1)
    return {"metric": name, "seed": seed, "samples": samples, "trials": trials,
            "scores": [score(stats_a), score(stats_b)], "p": [p_bs, p_ar],
            "a": interval(scores_a), "b": interval(scores_b)}


def compare_cases():
    rng = random.Random(5)
    nouns = ["lamp", "river", "clock", "garden", "engine", "letter", "bridge", "window"]
    verbs = ["finds", "moves", "paints", "keeps", "loses"]
    line = lambda: "the %s %s a %s and the %s ." % tuple(
        rng.choice(x) for x in (nouns, verbs, nouns, nouns))
    refs = [[line() for _ in range(40)]]
    noisy = lambda text, rate: " ".join(w if rng.random() > rate else rng.choice(nouns)
                                        for w in text.split())
    a, b = [noisy(x, 0.3) for x in refs[0]], [noisy(x, 0.2) for x in refs[0]]
    return {"refs": refs[0], "a": a, "b": b, "cases": [
        compare_case(BLEU(force=True), "BLEU", refs, a, b, 1, 200, 200),
        compare_case(CHRF(), "chrF2", refs, a, b, 12345678901234, 150, 100),
        compare_case(BLEU(force=True), "BLEU", refs, a, a, 7, 50, 50)]}


def main():
    data = {
        "sets": SETS,
        "bleu": bleu_cases(),
        "chrf": chrf_cases(),
        "multi": multi_cases(),
        "aer": [aer_case(i) for i in range(60)],
        "symmetrise": [symmetrise_case(i) for i in range(80)],
        "compare": compare_cases(),
    }
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write("{\n")
        for i, (key, value) in enumerate(data.items()):
            items = value if isinstance(value, list) else None
            dump = lambda x: json.dumps(x, separators=(",", ":"))
            if items is None:
                out.write('"%s": %s' % (key, dump(value)))
            else:
                out.write('"%s": [\n%s]' % (key, ",\n".join(dump(x) for x in items)))
            out.write(",\n" if i + 1 < len(data) else "}\n")
    print({k: len(v) for k, v in data.items()})


if __name__ == "__main__":
    main()
