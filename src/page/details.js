/* SPDX-License-Identifier: MIT */
/* src/page/details.js - coverage both ways, links beside gold links, the other outputs, and what a
 * word is worth. */
import { coverage, errorRate, linksOf, wordCount } from "./data.js";
import { fill, make, panel, percent } from "./dom.js";
import { change, output, sentence, state } from "./state.js";
import { CanvasSurface, colours, cut } from "./surface.js";
import { supportOf } from "./words.js";

const bodies = {};

function add(id, title, says) {
    const p = panel(id, title, says);
    bodies[id] = p.body;
    return p.section;
}

export function coveragePanel() {
    return add("coverage", "Coverage both ways",
        "Left: how much attention each source word receives, so a short bar may be a word left out. Right: in how many heads a target word looks at nothing, so a long bar may be a word made up.");
}

export function linksPanel() {
    return add("links", "Links",
        "Which source word each target word is linked to: by the row that predicts it (normal), by the row in which it is the input (shifted), and the gold links if the file has them.");
}

export function outputsPanel() {
    return add("outputs", "Other outputs",
        "Other translations of the same sentence, or the same one seen by another model; the part from which they differ is underlined.");
}

export function worthPanel() {
    return add("worth", "What a word is worth",
        "How much less probable the translation gets when one source word is left out, or when one head is made to look at nothing. The longer the bar, the more it was needed.");
}

/* Bars beside labels; marked: numbers that a warning names. */
function bars(labels, values, most, text, marked, kind, pick) {
    return make("table", { class: "bars" }, make("tbody", {}, labels.map((t, i) => make("tr", { class: marked.has(i) ? kind : false },
        make("th", { scope: "row", dir: "auto" }, pick ? make("button", { type: "button", class: "plain", click: () => pick(i) }, t) : t),
        make("td", { class: "wide" }, make("span", { class: "bar", style: `--share:${most > 0 ? Math.max(0, values[i] / most).toFixed(3) : 0}` })),
        make("td", {}, text(values[i]))))));
}

function crossStack(o) {
    const of = o.model.stacks[state.stack];
    return of.queries !== of.keys ? state.stack : o.crossOf(0);
}

export function showCoverage() {
    const o = output(), stack = crossStack(o);
    if (stack < 0)
        return fill(bodies.coverage, make("p", {}, "This file has no attention to a source."));
    const of = o.model.stacks[stack], found = coverage(o, stack), support = supportOf(o);
    const source = o.raw.texts[of.keys], target = o.raw.texts[of.queries];
    const map = o.map(stack, 0, 0, false);
    const first = map.keys.labels.slice(0, wordCount(source)), second = map.queries.labels.slice(0, wordCount(target));
    const mass = first.map((_, i) => found.mass[i] || 0);
    return fill(bodies.coverage, make("div", { class: "pair" },
        make("div", {}, make("h3", {}, "source words"), bars(first, mass, Math.max(...mass), (x) => x.toFixed(2),
            new Set(of.keys === 0 ? support.uncovered : []), "uncovered", (word) => change({ stack, side: "k", word }))),
        make("div", {}, make("h3", {}, "target words"), bars(second, found.nulls, 1, percent,
            new Set(support.unsupported), "unsupported", (word) => change({ stack, side: "q", word })))));
}

/* ---- links ---- */

export function showLinks() {
    const o = output(), stack = crossStack(o);
    if (stack < 0)
        return fill(bodies.links, make("p", {}, "This file has no attention to a source."));
    const of = o.model.stacks[stack], layer = Math.min(state.layer, of.layers - 1), head = Math.min(state.head, of.heads - 1);
    const gold = of.keys === 0 && state.output === 0 ? sentence().gold : [];
    const kinds = [["normal", linksOf(o, stack, layer, head, false)], ["shifted", linksOf(o, stack, layer, head, true)]];
    if (gold.length)
        kinds.push(["gold", gold]);
    const map = o.map(stack, layer, head, false), c = colours();
    const sides = [map.keys.labels.slice(0, wordCount(o.raw.texts[of.keys])), map.queries.labels.slice(0, wordCount(o.raw.texts[of.queries]))];
    return fill(bodies.links, make("p", {}, `${of.label}, layer ${layer + 1}, head ${head + 1}`), make("div", { class: "pair three" },
        kinds.map(([name, links]) => {
            const canvas = make("canvas", { role: "img", "aria-label": links.map(([s, t]) => `${sides[0][s]} – ${sides[1][t]}`).join(", ") });
            const error = gold.length && name !== "gold" ? errorRate(links, gold) : undefined;
            drawLinks(canvas, sides, links, name === "gold" ? null : gold, c);
            return make("figure", {}, make("figcaption", {}, name, error === undefined ? "" : `, error ${percent(error)}`), canvas);
        })), gold.length ? make("p", { class: "fine" }, "Dashed: a link that the gold links do not have. Dotted and pale: a gold link that is missing.") : null);
}

function drawLinks(canvas, [sources, targets], links, gold, c) {
    const size = 13, row = 21, width = 290, side = 105;
    const s = new CanvasSurface(canvas, width, row * Math.max(sources.length, targets.length) + 4);
    const y = (i) => row * (i + 0.5);
    const has = (list, [a, b]) => list.some((l) => l[0] === a && l[1] === b);
    sources.forEach((t, i) => s.text(c.ink, cut(t, size, side - 6), side - 6, y(i), size, "end"));
    targets.forEach((t, i) => s.text(c.ink, cut(t, size, side - 6), width - side + 6, y(i), size, "start"));
    const line = (colour, [a, b], width_of, dash) => {
        s.c.setLineDash(dash);
        s.line(colour, side, y(a), width - side, y(b), width_of);
        s.c.setLineDash([]);
    };
    for (const l of gold || [])
        if (!has(links, l))
            line(c.gold, l, 1, [1.5, 4]);
    for (const l of links)
        if (gold && gold.length && !has(gold, l))
            line(c.minus, l, 1.6, [6, 4]);
        else
            line(gold ? c.accent : c.gold, l, 1.8, []);
}

/* ---- other outputs ---- */

export function showOutputs() {
    const all = sentence().outputs, own = output();
    if (all.length < 2)
        return fill(bodies.outputs, make("p", { class: "fine" }, "There is one output for this sentence."));
    const words = (o) => o.textOf(o.target).split(" "), mine = words(own);
    return fill(bodies.outputs, make("ol", { class: "outputs" }, all.map((o, i) => {
        const theirs = words(o), note = [o.raw.label || o.model.name];
        let same = 0;
        while (same < theirs.length && theirs[same] === mine[same])
            same++;
        if (o.raw.score !== undefined)
            note.push(`score ${o.raw.score.toFixed(3)}`);
        if (o.raw.logp !== undefined)
            note.push(`log-probability ${o.raw.logp.toFixed(2)}`);
        if (i !== state.output && same < theirs.length)
            note.push(`differs from word ${same + 1}`);
        return make("li", { class: i === state.output ? "here" : false },
            make("button", { type: "button", "aria-pressed": String(i === state.output), click: () => change({ output: i, side: "" }) }, "show"),
            make("button", { type: "button", "aria-pressed": String(i === state.beside), disabled: i === state.output,
                             click: () => change({ beside: i === state.beside ? -1 : i }) }, "beside"),
            make("span", { dir: "auto" }, theirs.slice(0, same).join(" "), same ? " " : "",
                i === state.output ? theirs.slice(same).join(" ") : make("u", {}, theirs.slice(same).join(" "))),
            make("span", { class: "fine" }, note.join(" · ")));
    })));
}

/* ---- what a word is worth ---- */

export function showWorth() {
    const o = output(), worth = o.raw.worth;
    if (!worth)
        return fill(bodies.worth, make("p", { class: "fine" }, "This file does not have it; rela view --worth computes it."));
    const loss = (x) => o.raw.logp - x;
    const sides = worth.drop.map((list, source) => {
        const labels = o.textOf(source).split(" "), values = list.map(loss);
        return make("div", {}, make("h3", {}, worth.drop.length > 1 ? `without one word of source ${source + 1}` : "without one source word"),
            bars(labels, values, Math.max(...values, 0.01), signed, new Set(), "", null));
    });
    const heads = worth.silence.flatMap((list, layer) => list.map((x, head) => ({ name: `${layer + 1}.${head + 1}`, loss: loss(x), layer, head })));
    heads.sort((a, b) => b.loss - a.loss);
    const stack = o.crossOf(0), shown = heads.slice(0, 24);
    return fill(bodies.worth, make("div", { class: "pair" }, sides, make("div", {}, make("h3", {}, "with one head of the cross attention silenced"),
        bars(shown.map((h) => h.name), shown.map((h) => h.loss), Math.max(...shown.map((h) => h.loss), 0.01), signed, new Set(), "",
            (i) => change({ stack, layer: shown[i].layer, head: shown[i].head })),
        heads.length > shown.length ? make("p", { class: "fine" }, `The ${shown.length} most needed of ${heads.length} heads.`) : null)));
}

function signed(x) {
    return `${x < 0 ? "+" : "−"}${Math.abs(x).toFixed(2)}`;
}
