/* SPDX-License-Identifier: MIT */
/* src/page/words.js - the sentence: its warning, its words, and the lines of the chosen head between
 * them. */
import { fill, make, panel, percent, weightText } from "./dom.js";
import { columnOf, rowOf } from "./headpanel.js";
import { wordCount } from "./data.js";
import { change, output, sentence, state } from "./state.js";
import { CanvasSurface, colours } from "./surface.js";
import { nullMark } from "./map.js";

let wordsBody = null, hovered = null;
const LINE_ROOM = 170;

export function wordsPanel() {
    const p = panel("words", "The sentence",
        "Words looked at stand on the left, words that look on the right; a line is a weight above zero, and a word with a ring looks at nothing in this head. Point at a word or choose it.");
    wordsBody = p.body;
    return p.section;
}

/* The list of marks the warning gives: words of the first source, words of the target. */
export function supportOf(o) {
    return o.raw.support || { uncovered: [], unsupported: [], heads: [], warning: "" };
}

function languageOf(o, stream) {
    return (o.model.languages || [])[stream] || false;
}

/* A text as words, with the marks of the warning. */
function sentenceLine(o, stream, name) {
    const text = o.raw.texts[stream], n = wordCount(text), support = supportOf(o);
    const marked = new Set(stream === o.target ? support.unsupported : stream === 0 ? support.uncovered : []);
    const kind = stream === o.target ? "unsupported" : "uncovered";
    const words = o.textOf(stream).split(" ");
    return make("p", { class: "line" }, make("b", {}, name), " ",
        make("span", { lang: languageOf(o, stream), dir: "auto" },
            words.slice(0, n).map((w, i) => [i ? " " : "", marked.has(i)
                ? make("mark", { class: kind, title: kind === "uncovered" ? "hardly any head looks at this word"
                    : "no head that could support this word looks at anything" }, w) : w]).flat()));
}

export function showWords() {
    const o = output(), support = supportOf(o), texts = o.raw.texts;
    const lines = texts.map((_, k) => sentenceLine(o, k, k === o.target ? "target" : texts.length > 2 ? `source ${k + 1}` : "source"));
    const notes = [];
    if (o.raw.score !== undefined)
        notes.push(`score ${o.raw.score.toFixed(3)}`);
    if (o.raw.logp !== undefined)
        notes.push(`log-probability ${o.raw.logp.toFixed(2)} (${o.logpPerToken.toFixed(2)} per token)`);
    if (o.raw.null_rate !== undefined)
        notes.push(`null rate ${percent(o.raw.null_rate)}`);
    const warning = support.warning ? make("p", { class: "warning", role: "note" }, support.warning)
        : make("p", { class: "fine" }, o.raw.logp === undefined ? "No warning." : "No warning: the model expected every word of the target.");
    const graph = linkGraph(o);
    fill(wordsBody, lines, make("p", { class: "notes" }, notes.join(" · ")), warning, graph.element);
    graph.draw();
}

/* Two columns of words with lines between them. */
function linkGraph(o) {
    const of = o.model.stacks[state.stack];
    const map = o.map(state.stack, state.layer, state.head, state.byPiece);
    const button = (side, i, label) => make("button", {
        type: "button", class: side === "q" && map.nulls[i] ? "word null" : "word", "data-side": side, "data-word": i,
        "aria-pressed": String(state.side === side && state.word === i), dir: "auto",
        lang: languageOf(o, side === "q" ? of.queries : of.keys),
        "aria-label": nameOf(map, side, i),
        click: () => change(state.side === side && state.word === i ? { side: "" } : { side, word: i }),
        mouseenter: () => point({ side, word: i }), mouseleave: () => point(null),
        focus: () => point({ side, word: i }), blur: () => point(null),
    }, label);
    const keys = make("div", { class: "column keys", role: "group", "aria-label": "words looked at" },
        map.keys.labels.map((t, k) => button("k", k, t)));
    const queries = make("div", { class: "column queries", role: "group", "aria-label": "words that look" },
        map.queries.labels.map((t, q) => button("q", q, t)));
    const canvas = make("canvas", { "aria-hidden": "true" });
    const graph = make("div", { class: "graph" }, keys, canvas, queries);
    const says = make("p", { class: "readout", role: "status" });
    const draw = () => {
        if (!graph.isConnected)
            return;
        drawLines(canvas, graph, map);
        fill(says, sayingOf(map));
    };
    const point = (word) => {
        hovered = word;
        draw();
    };
    hovered = null;
    return { element: make("div", {}, graph, says), draw };
}

function nameOf(map, side, i) {
    if (side === "q")
        return `${map.queries.labels[i]}: ${map.nulls[i] ? "looks at nothing" : `looks at ${map.counts[i]} of ${map.seen(i)}`}`;
    return `${map.keys.labels[i]}: looked at by ${columnOf(map, i).length} of ${map.nQ}`;
}

function chosen() {
    return hovered || (state.side ? { side: state.side, word: state.word } : null);
}

function sayingOf(map) {
    const word = chosen(), labels = word && (word.side === "q" ? map.queries : map.keys).labels;
    if (!word || word.word >= labels.length)
        return "";
    const list = (word.side === "q" ? rowOf : columnOf)(map, word.word).slice(0, 6);
    const others = (word.side === "q" ? map.keys : map.queries).labels;
    const text = list.map(([i, w]) => `${others[i]} ${weightText(w)}`).join(", ");
    if (word.side === "q")
        return map.nulls[word.word] ? `“${labels[word.word]}” looks at nothing in this head.`
            : `“${labels[word.word]}” looks at ${map.counts[word.word]} of ${map.seen(word.word)}: ${text}`;
    return list.length ? `“${labels[word.word]}” is looked at by: ${text}` : `Nothing looks at “${labels[word.word]}” in this head.`;
}

function drawLines(canvas, graph, map) {
    const c = colours(), width = canvas.parentElement.clientWidth > 480 ? LINE_ROOM : 90;
    const box = graph.getBoundingClientRect(), middle = (e) => {
        const r = e.getBoundingClientRect();
        return r.top + r.height / 2 - box.top;
    };
    const s = new CanvasSurface(canvas, width, graph.clientHeight), word = chosen();
    const keys = Array.from(graph.querySelectorAll(".keys .word"), middle);
    const queries = Array.from(graph.querySelectorAll(".queries .word"), middle);
    for (let q = 0; q < map.nQ; q++) {
        if (map.nulls[q])
            nullMark(s, c, width - 8, queries[q], 5);
        for (let k = 0; k < map.nK; k++) {
            const w = map.w[q * map.nK + k];
            const lit = word && (word.side === "q" ? word.word === q : word.word === k);
            if (w === 0 || (word && !lit))
                continue;
            const share = Math.abs(w) / map.most;
            s.line(w < 0 ? c.minus : word ? c.accent : c.hot, 2, keys[k], width - 2, queries[q], 0.4 + 4 * share);
        }
    }
}
