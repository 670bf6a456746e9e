/* SPDX-License-Identifier: MIT */
/* src/page/map.js - one head as a map: a row per query, a column per key. A weight of exactly zero
 * is no cell at all; a row that looks at nothing is a ring on a hatched band. */
import { cut, level, ramp, widthOf } from "./surface.js";

const LABEL = 12, LABELS_MOST = 130, CELL_LEAST = 3, CELL_MOST = 26, LABELS_FROM = 9;

/* Sizes of a map that fits a width. */
export function layoutOf(map, width) {
    const rows = Math.max(...map.queries.labels.map((t) => widthOf(t, LABEL)), 20);
    const columns = Math.max(...map.keys.labels.map((t) => widthOf(t, LABEL)), 20);
    const labelled = (width - Math.min(rows, LABELS_MOST) - 30) / map.nK >= LABELS_FROM;
    const left = labelled ? Math.min(rows, LABELS_MOST) + 22 : 22;
    const top = labelled ? Math.min(1.1 * columns, LABELS_MOST) + 10 : 8; /* bold labels are longer */
    const cell = Math.max(CELL_LEAST, Math.min(CELL_MOST, (width - left - 4) / map.nK));
    return { left, top, cell, labelled, width: left + cell * map.nK + 4, height: top + cell * map.nQ + 4 };
}

/* gold: pairs [key word, query word], outlined; cursor: [query, key] or null. */
export function drawMap(s, map, at, c, gold, cursor) {
    const { left, top, cell } = at, levels = ramp(c.cold, c.hot), minus = ramp(c["null-wash"], c.minus);
    const cells = levels.map(() => []), below = minus.map(() => []), gap = cell > 8 ? 1 : 0, bands = [];
    for (let q = 0; q < map.nQ; q++) {
        const y = top + q * cell;
        if (map.nulls[q])
            bands.push([left, y, cell * map.nK, cell - gap]);
        for (let k = 0; k < map.nK; k++) {
            const x = map.w[q * map.nK + k];
            if (x !== 0)
                (x > 0 ? cells : below)[level(Math.abs(x) / map.most)].push([left + k * cell, y, cell - gap, cell - gap]);
        }
    }
    s.rects(c["null-wash"], bands);
    cells.forEach((list, i) => s.rects(levels[i], list));
    below.forEach((list, i) => s.rects(minus[i], list));
    s.outline(c.line, left - 0.5, top - 0.5, cell * map.nK + 1, cell * map.nQ + 1, 1);
    for (let q = 0; q < map.nQ; q++)
        if (map.nulls[q])
            nullMark(s, c, left - 9, top + (q + 0.5) * cell, Math.min(4, cell / 2));
    for (const [key, query] of gold || [])
        if (key < map.nK && query < map.nQ)
            s.outline(c.gold, left + key * cell + 0.5, top + query * cell + 0.5, cell - 1 - gap, cell - 1 - gap, 2);
    if (cursor)
        s.outline(c.ink, left + cursor[1] * cell, top + cursor[0] * cell, cell - gap, cell - gap, 1.5);
    if (at.labelled)
        labels(s, map, at, c, cursor);
}

/* A head that looks at nothing. */
export function nullMark(s, c, x, y, r) {
    s.ring(c.null, x, y, r, 1.6, false);
}

function labels(s, map, at, c, cursor) {
    map.queries.labels.forEach((t, q) => s.text(map.nulls[q] ? c.null : c.ink, cut(t, LABEL, LABELS_MOST), at.left - 18,
        at.top + (q + 0.5) * at.cell, LABEL, "end", 0, cursor && cursor[0] === q));
    map.keys.labels.forEach((t, k) => s.text(c.ink, cut(t, LABEL, LABELS_MOST), at.left + (k + 0.5) * at.cell, at.top - 6,
        LABEL, "start", -90, cursor && cursor[1] === k));
}

/* The cell at a point, null outside. */
export function cellAt(map, at, x, y) {
    const k = Math.floor((x - at.left) / at.cell), q = Math.floor((y - at.top) / at.cell);
    return q >= 0 && q < map.nQ && k >= 0 && k < map.nK ? [q, k] : null;
}

/* A small map without labels; at its right edge a strip with a mark for each null row. */
export function drawThumbnail(canvas, map, size, c) {
    const ratio = window.devicePixelRatio || 1, n = Math.round(size * ratio), strip = Math.round(7 * ratio);
    canvas.width = n + strip;
    canvas.height = n;
    canvas.style.width = `${size + 7}px`;
    canvas.style.height = `${size}px`;
    const context = canvas.getContext("2d"), levels = ramp(c.cold, c.hot), minus = ramp(c["null-wash"], c.minus);
    const w = (n - 2) / map.nK, h = n / map.nQ;
    for (let q = 0; q < map.nQ; q++) {
        const y = Math.floor(q * h), tall = Math.max(1, Math.floor((q + 1) * h) - y);
        for (let k = 0; k < map.nK; k++) {
            const x = map.w[q * map.nK + k];
            if (x === 0)
                continue;
            context.fillStyle = (x > 0 ? levels : minus)[level(Math.abs(x) / map.most)];
            context.fillRect(Math.floor(k * w), y, Math.max(1, Math.ceil(w)), tall);
        }
        if (map.nulls[q]) {
            context.fillStyle = c.null;
            context.fillRect(n, y, strip - 1, Math.max(1, tall - (tall > 3 ? 1 : 0)));
        }
    }
    context.fillStyle = c.line;
    context.fillRect(n - 1, 0, 1, n);
}
