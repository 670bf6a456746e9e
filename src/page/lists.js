/* SPDX-License-Identifier: MIT */
/* src/page/lists.js - all sentences: as a list, and as points by null rate and log-probability. */
import { errorRate, linksOf } from "./data.js";
import { choice, copyText, fill, make, panel, percent, tsvOf } from "./dom.js";
import { change, output, state } from "./state.js";
import { CanvasSurface, colours } from "./surface.js";
import { supportOf } from "./words.js";

const ORDERS_OF_LIST = [["line", "line"], ["warning", "warnings first"], ["null", "null rate"], ["logp", "log-probability"], ["length", "length"]];
let list = null, count = null, listOrder = "warning", wantedText = "", plot = null, summary = null;

export function listPanel() {
    const search = make("input", { type: "search", placeholder: "find", "aria-label": "find sentences",
                                   input: (e) => { wantedText = e.target.value.toLowerCase(); showList(); } });
    const p = panel("list", "Sentences", "Choose one; an exclamation mark means that a word may be missing or made up.",
        search, choice("sort by", ORDERS_OF_LIST, listOrder, (v) => { listOrder = v; showList(); }));
    list = make("ol", { class: "sentences" });
    count = make("p", { class: "fine", role: "status" });
    p.body.append(count, list);
    return p.section;
}

function valueOf(s) {
    const o = s.outputs[0], raw = o.raw;
    return { line: s.line, warning: supportOf(o).warning ? 0 : 1, null: -(raw.null_rate ?? -1), logp: o.logpPerToken ?? 0,
             length: raw.texts[o.target].pieces.length }[listOrder];
}

export function showList() {
    const all = state.corpus.sentences.map((s) => ({ s, source: s.outputs[0].textOf(0), target: s.outputs[0].textOf(s.outputs[0].target) }));
    const shown = all.filter((x) => !wantedText || `${x.source}\n${x.target}`.toLowerCase().includes(wantedText));
    shown.sort((a, b) => valueOf(a.s) - valueOf(b.s) || a.s.number - b.s.number);
    const warned = all.filter((x) => supportOf(x.s.outputs[0]).warning).length;
    fill(count, `${shown.length} of ${all.length} sentence${all.length === 1 ? "" : "s"}, ${warned} with a warning`);
    fill(list, shown.map(({ s, source, target }) => make("li", {}, make("button", {
        type: "button", "aria-current": s.number === state.sentence ? "true" : false, "data-sentence": s.number,
        click: () => change({ sentence: s.number, view: "sentence" }),
    }, make("span", { class: "number" }, s.line, supportOf(s.outputs[0]).warning ? make("b", { class: "alert", title: "has a warning" }, " !") : ""),
    make("span", { dir: "auto", class: "text" }, source), make("span", { dir: "auto", class: "text second" }, target)))));
}

/* The number of the sentence that the list begins with. */
export function firstOfList() {
    return Number(list.querySelector("button").dataset.sentence);
}

export function markCurrent() {
    for (const b of list.querySelectorAll("button")) {
        const here = Number(b.dataset.sentence) === state.sentence;
        here ? b.setAttribute("aria-current", "true") : b.removeAttribute("aria-current");
        if (here && list.scrollHeight > list.clientHeight)
            list.scrollTop = Math.max(0, b.offsetTop - list.offsetTop - list.clientHeight / 3);
    }
}

/* ---- the corpus ---- */

export function corpusPanel() {
    const p = panel("corpus", "All sentences at once",
        "Each point is a sentence: the further right, the more rows look at nothing; the lower, the less probable its target. Choose one to see it.");
    const canvas = make("canvas", { tabindex: "0", role: "img", "aria-label": "null rate and log-probability of all sentences; the list has the same sentences" });
    summary = make("p", { class: "readout", role: "status" });
    plot = { canvas, points: [] };
    canvas.addEventListener("mousemove", (e) => tellPoint(nearest(e)));
    canvas.addEventListener("click", (e) => {
        const found = nearest(e);
        if (found)
            change({ sentence: found.s.number, view: "sentence" });
    });
    p.body.append(canvas, summary);
    return p.section;
}

function nearest(e) {
    let best = null, least = 18 ** 2;
    for (const p of plot.points) {
        const far = (p.x - e.offsetX) ** 2 + (p.y - e.offsetY) ** 2;
        if (far < least) {
            least = far;
            best = p;
        }
    }
    return best;
}

function tellPoint(p) {
    if (p)
        fill(summary, make("b", {}, `${p.s.line}: `), p.s.outputs[0].textOf(p.s.outputs[0].target),
            ` (null rate ${percent(p.a)}, ${plot.label} ${p.b.toFixed(2)})`);
}

export function showCorpus() {
    const c = colours(), width = Math.min(900, (plot.canvas.parentElement.clientWidth || 700) - 4), height = Math.min(440, width * 0.6 + 60);
    const all = state.corpus.sentences.map((s) => ({ s, o: s.outputs[0] }));
    const scored = all.every((x) => x.o.raw.logp !== undefined);
    plot.label = scored ? "log-probability per token" : "tokens of the target";
    const data = all.map((x) => ({ s: x.s, a: x.o.raw.null_rate || 0, b: scored ? x.o.logpPerToken : x.o.raw.texts[x.o.target].pieces.length }));
    const low = Math.min(...data.map((d) => d.b)), high = Math.max(...data.map((d) => d.b)), most = Math.max(0.01, ...data.map((d) => d.a));
    const s = new CanvasSurface(plot.canvas, width, height), left = 56, bottom = height - 40;
    const x = (a) => left + (a / most) * (width - left - 20), y = (b) => bottom - ((b - low) / (high - low || 1)) * (bottom - 16);
    s.line(c.line, left, bottom, width - 10, bottom, 1);
    s.line(c.line, left, 8, left, bottom, 1);
    for (let i = 0; i <= 4; i++) {
        s.text(c.soft, percent(most * i / 4), x(most * i / 4), bottom + 14, 11, "middle");
        s.text(c.soft, (low + (high - low) * i / 4).toFixed(scored ? 1 : 0), left - 8, y(low + (high - low) * i / 4), 11, "end");
    }
    s.text(c.soft, "null rate of the cross attention", (left + width) / 2, height - 8, 12, "middle");
    s.text(c.soft, plot.label, 10, bottom / 2, 12, "middle", -90);
    plot.points = data.map((d) => ({ ...d, x: x(d.a), y: y(d.b) }));
    for (const p of plot.points) {
        const warned = supportOf(p.s.outputs[0]).warning;
        s.ring(warned ? c.null : c.accent, p.x, p.y, p.s.number === state.sentence ? 7 : 4.5, warned ? 2 : 1, !warned);
    }
    fill(summary, "Rings have a warning. Point at a sentence, or use the list.");
}

/* ---- heads over all sentences ---- */

const MEANS = [["place", "layer and head"], ["nullRate", "null rate"], ["sparsity", "exact zeros"], ["entropy", "entropy"], ["error", "error against gold links"]];
let headsBody = null, headsOrder = "place", meanTable = [];

export function headsPanel() {
    const p = panel("heads", "Heads over all sentences",
        "Means of each head of the chosen attention over the first output of every sentence: how much it leaves at exactly zero, for how many words it looks at nothing, how widely it spreads.",
        choice("sort by", MEANS, headsOrder, (v) => { headsOrder = v; showHeads(); }),
        make("button", { type: "button", click: (e) => copyText(tsvOf(meanTable), e.target) }, "copy as TSV"));
    headsBody = p.body;
    return p.section;
}

/* Means of a head over the sentences of the model that is shown. */
function meansOf(model, layer, head) {
    const of = model.stacks[state.stack], linked = of.queries !== of.keys && of.keys === 0;
    const sums = { nullRate: 0, sparsity: 0, entropy: 0 };
    let n = 0, errors = 0, golds = 0;
    for (const s of state.corpus.sentences) {
        const o = s.outputs.find((x) => x.model === model);
        if (!o)
            continue;
        const map = o.map(state.stack, layer, head, state.byPiece);
        for (const name of Object.keys(sums))
            sums[name] += map[name];
        n++;
        const error = linked && s.gold.length ? errorRate(linksOf(o, state.stack, layer, head, false), s.gold) : undefined;
        if (error !== undefined) {
            errors += error;
            golds++;
        }
    }
    return { layer, head, name: `${layer + 1}.${head + 1}`, nullRate: sums.nullRate / n, sparsity: sums.sparsity / n,
             entropy: sums.entropy / n, error: golds ? errors / golds : undefined };
}

export function showHeads() {
    const model = output().model, of = model.stacks[state.stack], found = [];
    for (let layer = 0; layer < of.layers; layer++)
        for (let head = 0; head < of.heads; head++)
            found.push(meansOf(model, layer, head));
    const sign = headsOrder === "nullRate" || headsOrder === "sparsity" ? -1 : 1;
    if (headsOrder !== "place")
        found.sort((a, b) => sign * ((a[headsOrder] ?? 9) - (b[headsOrder] ?? 9)));
    meanTable = [["head", "null rate", "exact zeros", "entropy", "error"], ...found.map((h) =>
        [h.name, h.nullRate.toFixed(4), h.sparsity.toFixed(4), h.entropy.toFixed(3), h.error === undefined ? "" : h.error.toFixed(4)])];
    const most = Math.max(0.01, ...found.map((h) => h.entropy));
    const bar = (share) => make("span", { class: "bar", style: `--share:${share.toFixed(3)}` });
    return fill(headsBody, make("p", { class: "fine" }, `${of.label} of ${model.name}`), make("div", { class: "scroll" }, make("table", { class: "heads" },
        make("thead", {}, make("tr", {}, ["head", "null rate", "exact zeros", "entropy (bits)", "AER"].map((t) => make("th", { scope: "col" }, t)))),
        make("tbody", {}, found.map((h) => make("tr", {},
            make("th", { scope: "row" }, make("button", { type: "button", class: "plain", click: () => change({ layer: h.layer, head: h.head, view: "sentence" }) }, h.name)),
            make("td", {}, bar(h.nullRate), percent(h.nullRate)), make("td", {}, bar(h.sparsity), percent(h.sparsity)),
            make("td", {}, bar(h.entropy / most), h.entropy.toFixed(2)), make("td", {}, h.error === undefined ? "" : percent(h.error))))))));
}
