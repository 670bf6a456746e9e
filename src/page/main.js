/* SPDX-License-Identifier: MIT */
/* src/page/main.js - puts the page together. */
import { Corpus } from "./data.js";
import { coveragePanel, linksPanel, outputsPanel, showCoverage, showLinks, showOutputs, showWorth, worthPanel } from "./details.js";
import { choice, fill, make, tsvOf } from "./dom.js";
import { gridPanel, showGrid, showWord, wordPanel } from "./grid.js";
import { headPanel, showHead, svgOfHead, timing } from "./headpanel.js";
import { corpusPanel, firstOfList, headsPanel, listPanel, markCurrent, showCorpus, showHeads, showList } from "./lists.js";
import { change, follow, onChange, open, output, sentence, state, tell } from "./state.js";
import { translateBox } from "./translate.js";
import { showWords, wordsPanel } from "./words.js";

let controls = null;

function showControls() {
    const o = output();
    const stack = choice("attention", o.model.stacks.map((s, i) => [i, s.label]), state.stack, (v) => change({ stack: Number(v), side: "" }));
    const switches = [["words", false], ["subwords", true]].map(([text, value]) => make("button", {
        type: "button", "aria-pressed": String(state.byPiece === value), click: () => change({ byPiece: value, side: "" }) }, text));
    const views = [["sentence", "one sentence"], ["corpus", "all sentences"]].map(([value, text]) => make("button", {
        type: "button", "aria-pressed": String(state.view === value), click: () => change({ view: value }) }, text));
    const theme = make("button", { type: "button", click: switchTheme }, "dark or light");
    fill(controls, make("div", { class: "switch", role: "group", "aria-label": "view" }, views), stack,
        make("div", { class: "switch", role: "group", "aria-label": "words or subwords" }, switches),
        make("span", { class: "model" }, `${o.model.name}${sentence().outputs.length > 1 ? ` · ${o.raw.label || "output " + (state.output + 1)}` : ""}`), theme);
}

function switchTheme() {
    const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = (root.dataset.theme || (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
    showAll();
}

function showAll() {
    showControls();
    const corpus = state.view === "corpus";
    document.body.classList.toggle("corpus", corpus);
    markCurrent();
    if (corpus) {
        showCorpus();
        return later(showHeads);
    }
    showWords();
    showHead();
    later(() => {
        showGrid();
        showWord();
        showCoverage();
        showLinks();
        showOutputs();
        showWorth();
    });
}

/* What is below the first screen comes after the first paint. */
let waiting = 0;
function later(f) {
    clearTimeout(waiting);
    waiting = setTimeout(f, 30);
}

function keys(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName))
        return;
    const heads = output().model.stacks[state.stack].heads, layers = output().model.stacks[state.stack].layers;
    const step = { j: { sentence: state.sentence + 1 }, k: { sentence: Math.max(0, state.sentence - 1) },
                   l: { head: (state.head + 1) % heads }, h: { head: (state.head + heads - 1) % heads },
                   n: { layer: (state.layer + 1) % layers }, p: { layer: (state.layer + layers - 1) % layers },
                   w: { byPiece: !state.byPiece, side: "" }, c: { view: state.view === "corpus" ? "sentence" : "corpus" },
                   Escape: { side: "" } }[e.key];
    if (step)
        change(step);
}

function layout(serves) {
    controls = make("div", { id: "controls" });
    const head = make("header", { id: "top" }, make("h1", {}, document.title), controls);
    const main = make("main", {}, wordsPanel(), make("div", { class: "two" }, headPanel(), gridPanel()), wordPanel(), coveragePanel(),
        linksPanel(), outputsPanel(), worthPanel(), corpusPanel(), headsPanel());
    const help = make("footer", {}, "Keys: j and k next and previous sentence, h and l head, n and p layer, w words or subwords, c all sentences, Escape no word. " +
        "Attention shows where a head looks; it does not prove why a word was chosen.");
    const aside = make("div", { id: "side" }, serves ? translateBox(showDocument) : null, listPanel());
    fill(document.body, head, make("div", { id: "page" }, aside, main), help);
}

function showDocument(doc) {
    const asked = /(^#|&)s=/.test(location.hash);
    open(new Corpus(doc));
    document.body.classList.remove("empty");
    showList();
    if (!asked)
        state.sentence = firstOfList();
    tell(["sentence"]);
}

function fail(e) {
    document.body.append(make("p", { class: "failure", role: "alert" }, `This page cannot be shown: ${e.message}`));
}

/* The address #tsv lists every weight, #svg the drawing and #times how long drawing took: for other
 * programs, and for tests. */
function report(what) {
    const pre = make("pre", { id: "report" });
    if (what === "tsv")
        pre.append(tsvOf(allWeights()));
    else if (what === "svg")
        pre.append(svgOfHead());
    else
        pre.append(tsvOf([["head", timing.head.toFixed(1)], ["paint", performance.getEntriesByName("first-contentful-paint").map((x) => x.startTime.toFixed(1)).join()],
            ["shown", performance.now().toFixed(1)]]));
    fill(document.body, pre);
}

function allWeights() {
    const rows = [["sentence", "output", "attention", "layer", "head", "query", "keys", "key:weight"]];
    for (const s of state.corpus.sentences)
        s.outputs.forEach((o, n) => o.model.stacks.forEach((of, stack) => {
            const all = o.weights(stack);
            for (let layer = 0; layer < of.layers; layer++)
                for (let head = 0; head < of.heads; head++) {
                    const w = all.head(layer, head);
                    for (let q = 0; q < all.nQ; q++) {
                        const found = [];
                        for (let k = 0; k < all.nK; k++)
                            if (w[q * all.nK + k] !== 0)
                                found.push(`${k}:${w[q * all.nK + k]}`);
                        rows.push([s.line, n, of.key, layer, head, q, all.keysOf(q), found.join(" ")]);
                    }
                }
        }));
    return rows;
}

function start() {
    const data = document.getElementById("data"), doc = data ? JSON.parse(data.textContent) : null;
    const asked = location.hash.slice(1);
    layout(!doc);
    onChange(showAll);
    addEventListener("hashchange", follow);
    document.addEventListener("keydown", (e) => state.corpus && keys(e));
    let again = 0;
    addEventListener("resize", () => {
        clearTimeout(again);
        again = setTimeout(() => state.corpus && showAll(), 120);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => state.corpus && showAll());
    if (doc)
        showDocument(doc);
    else
        document.body.classList.add("empty");
    if (doc && /^(tsv|svg)$/.test(asked))
        report(asked);
    else if (doc && asked === "times")
        setTimeout(() => report(asked), 300);
}

try {
    start();
} catch (e) {
    fail(e);
}
