/* SPDX-License-Identifier: MIT */
/* src/page/headpanel.js - one head: its map, with the same head of the other output beside it. */
import { copyText, download, fill, make, panel, percent, tsvOf, weightText } from "./dom.js";
import { cellAt, drawMap, layoutOf } from "./map.js";
import { change, output, sentence, state } from "./state.js";
import { CanvasSurface, SvgSurface, colours } from "./surface.js";

let headBody = null, readout = null;
export const timing = { head: 0 };

export function headPanel() {
    const tool = (text, f) => make("button", { type: "button", click: f }, text);
    const p = panel("head", "One head",
        "Each row is a word that looks, each column a word that is looked at; the darker, the more. No cell is a weight of exactly zero, and a row with a ring looks at nothing at all.",
        tool("SVG", saveSvg), tool("PNG", savePng), tool("copy as TSV", (e) => copyText(tsvOf(tableOf()), e.target)));
    headBody = p.body;
    readout = make("p", { class: "readout", role: "status", "aria-live": "polite" });
    p.section.append(readout);
    return p.section;
}

function isCross(o) {
    const of = o.model.stacks[state.stack];
    return of.queries !== of.keys;
}

/* Gold links belong to words of the first source. */
export function goldFor(o) {
    const of = o.model.stacks[state.stack];
    return !state.byPiece && isCross(o) && of.keys === 0 && state.output === 0 ? sentence().gold : [];
}

export function headName(o) {
    const of = o.model.stacks[state.stack];
    return `${of.label}, layer ${state.layer + 1}, head ${state.head + 1}`;
}

function outputsShown() {
    const all = sentence().outputs, shown = [all[state.output]];
    if (state.beside >= 0)
        shown.push(all[state.beside]);
    return shown;
}

function mapOf(o) {
    const stack = o.model.stacks[state.stack];
    if (!stack || state.layer >= stack.layers || state.head >= stack.heads)
        return null;
    return o.map(state.stack, state.layer, state.head, state.byPiece);
}

export function showHead() {
    const c = colours(), shown = outputsShown();
    const room = Math.max(240, (headBody.clientWidth || 600) / shown.length - 12);
    const figures = shown.map((o) => {
        const map = mapOf(o);
        return map ? figureOf(o, map, layoutOf(map, Math.min(room, 900)), c)
            : make("p", {}, `${o.model.name} has no such head.`);
    });
    fill(headBody, figures);
    describe(mapOf(output()));
}

function cursorOf(map) {
    if (!state.side || state.word >= (state.side === "q" ? map.nQ : map.nK))
        return null;
    const list = state.side === "q" ? rowOf(map, state.word) : columnOf(map, state.word);
    const best = list.length ? list[0][0] : 0;
    return state.side === "q" ? [state.word, best] : [best, state.word];
}

/* Keys of a query, or queries of a key, with weight; largest first. */
export function rowOf(map, q) {
    const found = [];
    for (let k = 0; k < map.nK; k++)
        if (map.w[q * map.nK + k] !== 0)
            found.push([k, map.w[q * map.nK + k]]);
    return found.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
}

export function columnOf(map, k) {
    const found = [];
    for (let q = 0; q < map.nQ; q++)
        if (map.w[q * map.nK + k] !== 0)
            found.push([q, map.w[q * map.nK + k]]);
    return found.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
}

function figureOf(o, map, at, c) {
    const own = o === output(), gold = own ? goldFor(o) : [];
    const label = `${headName(o)}: ${map.nQ} rows, ${map.nK} columns, ${percent(map.sparsity)} exact zeros, ` +
        `${percent(map.nullRate)} null rows. Arrow keys move from cell to cell.`;
    const canvas = make("canvas", { tabindex: "0", role: "img", "aria-label": label });
    let cursor = own ? cursorOf(map) : null;
    const redraw = () => {
        const before = performance.now();
        drawMap(new CanvasSurface(canvas, at.width, at.height), map, at, c, gold, cursor);
        timing.head = performance.now() - before;
    };
    const point = (cell) => {
        cursor = cell;
        redraw();
        say(map, cell);
    };
    const cellOf = (e) => cellAt(map, at, e.offsetX, e.offsetY);
    canvas.addEventListener("mousemove", (e) => {
        const cell = cellOf(e);
        if (cell && (!cursor || cell.join() !== cursor.join()))
            point(cell);
    });
    canvas.addEventListener("click", (e) => {
        const cell = cellOf(e);
        if (cell && own)
            change({ side: "q", word: cell[0] });
    });
    canvas.addEventListener("keydown", (e) => {
        const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
        if (!step)
            return;
        e.preventDefault();
        e.stopPropagation();
        const [q, k] = cursor || [0, 0];
        point([Math.max(0, Math.min(map.nQ - 1, q + step[0])), Math.max(0, Math.min(map.nK - 1, k + step[1]))]);
    });
    redraw();
    const title = state.beside >= 0 || sentence().outputs.length > 1 ? `${o.raw.label || o.model.name}: ` : "";
    return make("figure", { class: "map" }, make("figcaption", {},
        `${title}${headName(o)} · ${percent(map.sparsity)} exact zeros · ${percent(map.nullRate)} null rows`), canvas);
}

/* What one cell says. */
function say(map, [q, k]) {
    const w = map.w[q * map.nK + k], query = map.queries.labels[q], key = map.keys.labels[k];
    fill(readout, map.nulls[q]
        ? `“${query}” looks at nothing here: all ${map.seen(q)} weights are exactly zero.`
        : `“${query}” looks at “${key}” with ${weightText(w)}${w === 0 ? " (exactly zero)" : ""}; ` +
          `${map.counts[q]} of ${map.seen(q)} words get weight.`);
}

function describe(map) {
    const cursor = map && cursorOf(map);
    if (cursor)
        say(map, cursor);
    else
        fill(readout, "Point at a cell, or choose a word above.");
}

/* Rows and columns of the map as a table. */
function tableOf() {
    const map = mapOf(output());
    return [["", ...map.keys.labels], ...map.queries.labels.map((t, q) =>
        [t, ...Array.from(map.w.subarray(q * map.nK, (q + 1) * map.nK), weightText)])];
}

function drawing(make_surface) {
    const o = output(), map = mapOf(o), at = layoutOf(map, 900), c = colours();
    const s = make_surface(at.width, at.height + 20, c.back);
    drawMap(s, map, at, c, goldFor(o), cursorOf(map));
    s.text(c.soft, headName(o), at.left, at.height + 10, 12, "start");
    return s;
}

function fileStem() {
    return `attention-s${state.sentence + 1}-h${state.layer + 1}.${state.head + 1}`;
}

function saveSvg() {
    download(`${fileStem()}.svg`, "image/svg+xml", drawing((w, h, back) => new SvgSurface(w, h, back)).end());
}

export function svgOfHead() {
    return drawing((w, h, back) => new SvgSurface(w, h, back)).end();
}

function savePng() {
    const canvas = document.createElement("canvas");
    drawing((w, h, back) => {
        const s = new CanvasSurface(canvas, w, h, 2);
        s.rects(back, [[0, 0, w, h]]);
        return s;
    });
    canvas.toBlob((blob) => download(`${fileStem()}.png`, "image/png", blob));
}
