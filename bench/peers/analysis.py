# SPDX-License-Identifier: MIT
"""Works out the figures of `rela analyse` again with numpy, from its dump alone.

    rela analyse MODEL --src A --tgt B --gold G --out DIR --dump D.npz
    python3 analysis.py D.npz DIR/analysis.json [G]

Prints the largest difference of sparsity, null rate, head diversity and alignment error. For kinds of
attention whose weights do not sum to one, and models with BPE of the usual marker. Of several sources one may
be empty.
"""
import json
import sys

import numpy as np

PLACES = ["encoder", "decoder", "cross"]
TAUS = [1, 0.5, 0.25, 0.1]


def read(path):
    """Weights of every query, and the tokens of every pair."""
    z = np.load(path)
    rows, ends, indices, values = z["rows"], z["indptr"], z["indices"], z["weights"]
    weights = {}
    for i, (pair, place, layer, head, query, n) in enumerate(rows):
        row = np.zeros(n)
        row[indices[ends[i] : ends[i + 1]]] = values[ends[i] : ends[i + 1]]
        weights[pair, place, layer, head, query] = row
    lines = bytes(z["tokens"]).decode().split("\n")[:-1]
    tokens = {i: [side.split() for side in line.split("\t")] for i, line in enumerate(lines) if line}
    places = bytes(z["places"]).decode().split("\n")[:-1] if "places" in z else PLACES
    return rows, weights, tokens, places


def entropy(p):
    p = p[p > 0]
    return -(p * np.log(p)).sum()


def distribution(row, tau):
    p = np.zeros(len(row) + 1)
    if (row == 0).all():
        p[-1] = 1
        return p
    e = np.exp(row**tau - (row**tau).max())
    p[:-1] = e / e.sum()
    return p


def stream(name):
    """The side whose tokens are the queries: encoders have their source."""
    return int((name.split() + ["1"])[1]) - 1 if name.startswith("encoder") else -1


def diversity(weights, tokens, place, name, layer, heads, tau):
    means = []
    for pair, sides in tokens.items():
        js = []
        for query in range(len(sides[stream(name)])):
            if len(weights[pair, place, layer, 0, query]) == 0:
                continue
            p = [distribution(weights[pair, place, layer, h, query], tau) for h in range(heads)]
            js.append(entropy(np.mean(p, 0)) - np.mean([entropy(x) for x in p]))
        means += [np.mean(js)] if js else []
    return np.mean(means)


def words(side):
    of, n = [], 0
    for token in side[:-1]:
        of.append(n)
        n += not token.endswith("@@")
    return of, n


def links(weights, tokens, pair, cross, layer, heads, shift):
    place, source = cross
    src, tgt = tokens[pair][source], tokens[pair][-1]
    if not src:
        return set()
    src_of, n_src = words(src)
    tgt_of, n_tgt = words(tgt)
    count = np.bincount(tgt_of)
    merged = np.zeros((n_tgt, n_src + 1))
    for q in range(len(tgt) - 1):
        row = np.mean([weights[pair, place, layer, h, q + shift] for h in heads], 0)
        for i, w in enumerate(row):
            merged[tgt_of[q], src_of[i] if i < len(src_of) else n_src] += w / count[tgt_of[q]]
    best = merged.argmax(1)
    return {(int(best[t]), t) for t in range(n_tgt) if merged[t].max() > 0 and best[t] < n_src}


def error(weights, tokens, gold, cross, layer, heads, shift):
    a = s = a_s = a_p = 0
    for pair, line in enumerate(gold):
        sure = {tuple(map(int, x.split("-"))) for x in line.split() if "-" in x}
        possible = sure | {tuple(map(int, x.replace("p", "?").split("?"))) for x in line.split() if "-" not in x}
        found = links(weights, tokens, pair, cross, layer, heads, shift) if pair in tokens else set()
        a, s = a + len(found), s + len(sure)
        a_s, a_p = a_s + len(found & sure), a_p + len(found & possible)
    return 100 * (1 - (a_s + a_p) / (a + s))


def main():
    rows, weights, tokens, places = read(sys.argv[1])
    analysis = json.load(open(sys.argv[2]))
    model = analysis["models"][0]
    source = analysis.get("source", 0)
    cross = places.index(f"cross {source}" if "source" in analysis else "cross"), source
    heads = rows[:, 3].max() + 1
    n = np.array([np.count_nonzero(weights[tuple(r[:5])]) for r in rows])
    worst = {"sparsity": 0, "null rate": 0, "diversity": 0, "alignment error": 0}

    def differ(name, x, y):
        worst[name] = max(worst[name], abs(x - y))

    for place, name in enumerate(places):
        for layer, want in enumerate(model["places"][name]["layers"]):
            for h in range(heads):
                mine = (rows[:, 1] == place) & (rows[:, 2] == layer) & (rows[:, 3] == h)
                differ("sparsity", 1 - n[mine].sum() / rows[mine, 5].sum(), want["head_sparsity"][h])
                differ("null rate", (n[mine] == 0).mean(), want["head_null_rate"][h])
            for k, tau in enumerate(TAUS):
                differ("diversity", diversity(weights, tokens, place, name, layer, heads, tau), want["diversity"][k])
    gold = open(sys.argv[3]).read().split("\n")[:-1] if len(sys.argv) > 3 else []
    for shift, name in enumerate(["normal", "shifted"] if gold else []):
        for layer, want in enumerate(model["aer"][name]["layers"]):
            for h in range(heads):
                differ("alignment error", error(weights, tokens, gold, cross, layer, [h], shift), want["heads"][h])
            differ("alignment error", error(weights, tokens, gold, cross, layer, range(heads), shift), want["mean_of_heads"])
    for name, value in worst.items():
        print(f"{name}: largest difference {value:.2g}")


main()
