# SPDX-License-Identifier: MIT
"""Comparisons of rela with a peer: medians and spreads over rounds, printed as tables or JSON lines."""
import json
import re
import statistics


def comparison(case, ours, theirs, *, times=False, **more):
    """A row: what was compared, both sides in each round, and how many times as fast we are.

    The ratio is the median of those of single rounds. times: small is fast.
    """
    ratios = [t / o if times else o / t for o, t in zip(ours, theirs)]
    return {"case": case, "rela": spread(ours), "peer": spread(theirs), "ratio": spread(ratios), "more": more}


def spread(values):
    return {"median": statistics.median(values), "low": min(values), "high": max(values), "rounds": values}


class Printer:
    """Takes the rows of a table as they come."""

    def __init__(self, as_json):
        self.as_json = as_json

    def head(self, report):
        if self.as_json:
            print(json.dumps({"bench": "peers", **report}), flush=True)
            return
        print(", ".join(f"{k} {v}" for k, v in report.items()))
        print("ratio: how many times as fast as the peer; medians of rounds taken in turn, lowest and highest in brackets")

    def table(self, part, title, rows):
        if self.as_json:
            for r in rows:
                print(json.dumps({"bench": part, **r["case"], **{k: rounded(r[k]) for k in ("rela", "peer", "ratio")},
                                  **{key(k): v for k, v in r["more"].items()}}), flush=True)
            return
        cells = [list(rows[0]["case"]) + ["rela", "peer", "ratio"] + list(rows[0]["more"])]
        for r in rows:
            cells.append([*map(str, r["case"].values()), *(report(r[k]) for k in ("rela", "peer", "ratio")),
                          *(x if isinstance(x, str) else number(x) for x in r["more"].values())])
        width = [max(map(len, column)) for column in zip(*cells)]
        left = {i for i, x in enumerate(cells[-1]) if not x[:1].isdigit()}
        print(f"\n{part}: {title}")
        for line in cells:
            print("  ".join(x.ljust(w) if i in left else x.rjust(w)
                            for i, (x, w) in enumerate(zip(line, width))).rstrip(), flush=True)

    def losses(self, kind, rows):
        if not self.as_json:
            print(f"\ncurve: loss per target token with {kind}, mean of a hundred updates\n"
                  f"{'update':>6}  {'rela':>7}  {'PyTorch':>7}")
        for update, ours, theirs in rows:
            print(json.dumps({"bench": "curve", "kind": kind, "update": update, "rela": ours, "peer": theirs})
                  if self.as_json else f"{update:6}  {ours:7.4f}  {theirs:7.4f}", flush=True)


def key(head):
    return re.sub("[^a-z0-9]+", "_", head.lower()).strip("_")


def rounded(s):
    return {k: [float(f"{x:.5g}") for x in v] if isinstance(v, list) else float(f"{v:.5g}") for k, v in s.items()}


def report(s):
    return f"{number(s['median'])} ({number(s['low'])}-{number(s['high'])})"


def number(x):
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.1f}" if abs(x) >= 10 else f"{x:.2f}"
