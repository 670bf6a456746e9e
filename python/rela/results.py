# SPDX-License-Identifier: MIT
"""What translating and scoring give."""
from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any, Iterable, Sequence

import numpy as np


@dataclass
class Translation:
    """One translation of one text."""

    text: str
    score: float  #: what the search ranks by: logp with length penalty
    logp: float  #: natural log-probability
    tokens: list[str] = field(repr=False)  #: subwords; the last is <eos>
    token_logps: list[float] = field(repr=False)
    source_tokens: list[str] = field(repr=False)
    #: (tokens, layers, heads, source tokens), if requested
    attention: np.ndarray | None = field(default=None, repr=False)
    #: (source, target) words; with links="soft" (source, target, weight)
    links: list[Any] | None = field(default=None, repr=False)

    def _repr_html_(self) -> str:
        """The translation; with attention, its mean over layers and heads."""
        html = f"<p>{escape(self.text)} <small>logp {self.logp:.3f}</small></p>"
        if self.attention is None:
            return html
        return html + heat_map(self.attention.mean((1, 2)), self.tokens, self.source_tokens)


@dataclass
class Score:
    """Log-probability of a given translation."""

    logp: float
    tokens: list[str] = field(repr=False)
    token_logps: list[float] = field(repr=False)

    def _repr_html_(self) -> str:
        """Each token with its log-probability."""
        return table(f"logp {self.logp:.3f}", zip(self.tokens, (f"{x:.3f}" for x in self.token_logps)))


@dataclass(repr=False)
class PairAttention:
    """Attention weights of all layers and heads for one sentence pair, dense: (layers, heads, queries, keys).

    ``items()`` gives the arrays with their names: "encoder", "decoder" and "cross", or for models with
    several sources "encoder0", "encoder1", ..., "decoder", "cross0", ...; the properties are those of
    the first source.
    """

    sources: list[list[str]]  #: tokens of each source, ending in <eos>; none if the source is empty
    target: list[str]
    stacks: dict[str, np.ndarray]

    @property
    def source(self) -> list[str]:
        return self.sources[0]

    @property
    def encoder(self) -> np.ndarray:
        """(layers, heads, source, source)"""
        return self.stacks["encoder" if len(self.sources) == 1 else "encoder0"]

    @property
    def decoder(self) -> np.ndarray:
        """(layers, heads, target, target)"""
        return self.stacks["decoder"]

    @property
    def cross(self) -> np.ndarray:
        """(layers, heads, target, source)"""
        return self.stacks["cross" if len(self.sources) == 1 else "cross0"]

    def items(self) -> list[tuple[str, np.ndarray]]:
        return list(self.stacks.items())

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {weights.shape}" for name, weights in self.items())
        return f"<rela.PairAttention: {shapes}>"

    def _repr_html_(self) -> str:
        """The cross attention to the first source, mean of layers and heads."""
        return heat_map(self.cross.mean((0, 1)), self.target, self.source)


def table(title: str, rows: Iterable[tuple[str, Any]]) -> str:
    """HTML of names and values."""
    cells = "".join(f"<tr><td>{escape(str(name))}</td><td>{escape(str(value))}</td></tr>" for name, value in rows)
    return f"<table><caption>{escape(title)}</caption>{cells}</table>"


def heat_map(weights: np.ndarray, queries: Sequence[str], keys: Sequence[str]) -> str:
    """HTML of weights (queries, keys): the darker, the larger; zeros stay blank."""
    most = float(weights.max()) if weights.size else 0.0
    head = "".join(f"<th>{escape(key)}</th>" for key in keys)
    rows = [f"<tr><th>{escape(query)}</th>{''.join(_cell(w, most) for w in row)}</tr>"
            for query, row in zip(queries, weights)]
    return f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"


def _cell(weight: float, most: float) -> str:
    if not weight:
        return "<td></td>"
    share = abs(weight) / most if most else 0
    return f'<td title="{weight:.4f}" style="background: rgba(31, 78, 140, {share:.2f})"></td>'
