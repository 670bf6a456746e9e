#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the attention of one head as an SVG picture: rows are queries, columns are keys, white is
exactly zero.

    plot_head.py model.rela "The old house is small." "Das alte Haus ist klein." -o head.svg
"""
import argparse
from html import escape

import rela

CELL, MARGIN = 26, 110


def picture(weights, queries, keys, title):
    """The SVG text; a weight's grey is its share of the largest one."""
    width, height = MARGIN + CELL * len(keys) + 20, MARGIN + CELL * len(queries) + 40
    top = max(float(weights.max()), 1e-30)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             'font-family="sans-serif" font-size="12">',
             f'<text x="10" y="20" font-size="14">{escape(title)}</text>']
    for j, token in enumerate(keys):
        x = MARGIN + CELL * j + CELL // 2
        parts.append(f'<text transform="translate({x + 4},{MARGIN - 6}) rotate(-60)">'
                     f"{escape(token)}</text>")
    for i, token in enumerate(queries):
        y = MARGIN + CELL * i
        parts.append(f'<text x="{MARGIN - 6}" y="{y + 17}" text-anchor="end">{escape(token)}</text>')
        for j in range(len(keys)):
            grey = 255 - round(255 * float(weights[i, j]) / top) if weights[i, j] else 255
            grey = max(0, min(255, grey))
            parts.append(f'<rect x="{MARGIN + CELL * j}" y="{y}" width="{CELL}" height="{CELL}" '
                         f'fill="rgb({grey},{grey},{grey})" stroke="#ccc"><title>'
                         f"{weights[i, j]:.4f}</title></rect>")
    return "\n".join(parts + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("source")
    parser.add_argument("target", nargs="?", help="default: what the model says")
    parser.add_argument("--place", choices=["encoder", "decoder", "cross"], default="cross")
    parser.add_argument("--layer", type=int, default=1, help="from 1")
    parser.add_argument("--head", type=int, default=1, help="from 1")
    parser.add_argument("-o", "--output", default="head.svg")
    a = parser.parse_args()

    model = rela.Translator(a.model)
    target = a.target if a.target is not None else model.translate(a.source)
    seen = model.attention(a.source, target)
    weights = dict(seen.items())[a.place]
    if not (1 <= a.layer <= weights.shape[0] and 1 <= a.head <= weights.shape[1]):
        parser.error(f"the model has {weights.shape[0]} layers of {weights.shape[1]} heads")
    weights = weights[a.layer - 1, a.head - 1]
    queries = seen.source if a.place == "encoder" else seen.target
    keys = seen.target if a.place == "decoder" else seen.source
    zeros = (weights == 0).mean()
    title = f"{a.place}, layer {a.layer}, head {a.head}: {zeros:.0%} of the weights are zero"
    with open(a.output, "w", encoding="utf-8") as out:
        out.write(picture(weights, queries, keys, title))


if __name__ == "__main__":
    main()
