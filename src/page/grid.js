/* SPDX-License-Identifier: MIT */
/* src/page/grid.js - all heads of a stack, and what each of them does with the chosen word. */
import { errorRate, linksOf } from "./data.js";
import { choice, copyText, fill, make, panel, percent, tsvOf, weightText } from "./dom.js";
import { columnOf, rowOf } from "./headpanel.js";
import { drawThumbnail } from "./map.js";
import { change, onChange, output, sentence, state } from "./state.js";
import { colours } from "./surface.js";

const ORDERS = [["place", "layer and head"], ["null", "null rate"], ["sparsity", "exact zeros"],
                ["entropy", "entropy"], ["error", "error against gold links"]];
const FILTERS = [["all", "all heads"], ["some", "heads that look at something"], ["null", "heads with null rows"],
                 ["looks", "heads where the chosen word has weight"], ["absent", "heads where it has none"]];
let gridBody = null, rows = null, order = "place", filter = "all", tableData = [];

export function gridPanel() {
    const p = panel("grid", "All heads",
        "Every head of this attention as a small map; the strip at its right edge marks the words for which it looks at nothing. Choose one to see it in full.",
        choice("sort by", ORDERS, order, (v) => { order = v; showGrid(); }),
        choice("show", FILTERS, filter, (v) => { filter = v; showGrid(); }));
    gridBody = p.body;
    return p.section;
}

/* All heads of the stack of an output, with what the grid and its tables say of them. */
export function headsOf(o) {
    const of = o.model.stacks[state.stack], gold = sentence().gold, found = [];
    const links = gold.length && of.queries !== of.keys && of.keys === 0;
    for (let layer = 0; layer < of.layers; layer++)
        for (let head = 0; head < of.heads; head++) {
            const map = o.map(state.stack, layer, head, state.byPiece);
            found.push({ layer, head, map, name: `${layer + 1}.${head + 1}`,
                         error: links ? errorRate(linksOf(o, state.stack, layer, head, false), gold) : undefined });
        }
    return found;
}

/* Weight of the chosen word in a head; 0 if it has none there. */
function weightOfWord(map) {
    const list = (state.side === "q" ? rowOf : columnOf)(map, state.word);
    return list.reduce((sum, [, w]) => sum + Math.abs(w), 0);
}

function wanted(h) {
    if (filter === "some")
        return h.map.nullRate < 1;
    if (filter === "null")
        return h.map.nullRate > 0;
    if (!state.side)
        return true;
    return filter === "looks" ? weightOfWord(h.map) > 0 : filter === "absent" ? weightOfWord(h.map) === 0 : true;
}

function sorted(heads) {
    const value = { null: (h) => -h.map.nullRate, sparsity: (h) => -h.map.sparsity, entropy: (h) => h.map.entropy,
                    error: (h) => h.error ?? 2 }[order];
    return value ? heads.slice().sort((a, b) => value(a) - value(b)) : heads;
}

export function showGrid() {
    const c = colours(), o = output();
    const heads = sorted(headsOf(o)).filter(wanted), of = o.model.stacks[state.stack];
    const cells = heads.map((h) => {
        const canvas = make("canvas", { "aria-hidden": "true" });
        drawThumbnail(canvas, h.map, 66, c);
        const here = h.layer === state.layer && h.head === state.head;
        return make("button", {
            type: "button", class: "cell", "aria-pressed": String(here),
            "aria-label": `layer ${h.layer + 1}, head ${h.head + 1}: ${percent(h.map.sparsity)} exact zeros, looks at nothing for ${percent(h.map.nullRate)} of the words`,
            click: () => change({ layer: h.layer, head: h.head }),
        }, canvas, make("span", { class: "name" }, h.name),
        make("span", { class: "figures" }, `${percent(h.map.sparsity)} zero`, make("br"),
            h.map.nullRate ? make("span", { class: "null-text" }, `${percent(h.map.nullRate)} null`) : "no null"),
        h.error === undefined ? null : make("span", { class: "figures" }, `AER ${percent(h.error)}`));
    });
    const grid = make("div", { class: "grid" }, cells);
    if (order === "place" && filter === "all")
        grid.style.setProperty("--heads", of.heads);
    grid.classList.toggle("square", order === "place" && filter === "all");
    fill(gridBody, heads.length ? grid : make("p", {}, "No head is left by the filter."));
}

/* ---- the chosen word in all heads ---- */

export function wordPanel() {
    const p = panel("word", "The chosen word in every head",
        "For the word you chose: what each head looks at, and how many words get any weight; a ring stands for nothing at all.",
        make("button", { type: "button", click: (e) => copyText(tsvOf(tableData), e.target) }, "copy as TSV"));
    rows = p.body;
    return p.section;
}

export function showWord() {
    const o = output();
    if (!state.side)
        return fill(rows, make("p", { class: "fine" }, "Choose a word above."));
    const heads = headsOf(o), first = heads[0].map, byQuery = state.side === "q";
    const labels = (byQuery ? first.queries : first.keys).labels, others = (byQuery ? first.keys : first.queries).labels;
    if (state.word >= labels.length)
        return fill(rows, make("p", { class: "fine" }, "Choose a word above."));
    tableData = [["head", byQuery ? "words with weight" : "looked at by", "of", "first", "weight", "second", "weight", "third", "weight"]];
    const lines = heads.map((h) => {
        const list = (byQuery ? rowOf : columnOf)(h.map, state.word), of = byQuery ? h.map.seen(state.word) : h.map.nQ;
        const top = list.slice(0, 3);
        tableData.push([h.name, list.length, of, ...top.flatMap(([i, w]) => [others[i], weightText(w)])]);
        return make("tr", { class: h.layer === state.layer && h.head === state.head ? "here" : false },
            make("th", { scope: "row" }, make("button", { type: "button", class: "plain", click: () => change({ layer: h.layer, head: h.head }) }, h.name)),
            make("td", {}, list.length ? `${list.length} of ${of}` : make("span", { class: "ring", title: "looks at nothing" }, "nothing")),
            make("td", { class: "text" }, top.map(([i, w]) => [make("span", { class: "bar", style: `--share:${(Math.abs(w) / h.map.most).toFixed(3)}` }),
                make("bdi", {}, others[i]), ` ${weightText(w)}  `]).flat()));
    });
    const none = heads.filter((h) => weightOfWord(h.map) === 0).length;
    return fill(rows, make("p", {}, byQuery
        ? `“${labels[state.word]}” looks at nothing in ${none} of ${heads.length} heads.`
        : `Nothing looks at “${labels[state.word]}” in ${none} of ${heads.length} heads.`),
    make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ["head", byQuery ? "looks at" : "looked at by", "most weight"]
        .map((t) => make("th", { scope: "col" }, t)))), make("tbody", {}, lines))));
}

onChange((names) => {
    if (names.includes("side") || names.includes("word"))
        if (filter === "looks" || filter === "absent")
            showGrid();
});
