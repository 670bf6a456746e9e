/* SPDX-License-Identifier: MIT */
/* src/page/data.js - an attention document (docs/viewer.md): decoded, and what is computed from it.
 *
 * A row is one query of one head. Its weights are kept as the file has them, a bit for each key and
 * a half-precision number for each key whose bit is set, so an exact zero is an unset bit. */

let halves = null;

/* The value of each of the 65,536 half-precision numbers. */
function halfTable() {
    if (halves)
        return halves;
    halves = new Float32Array(65536);
    for (let bits = 0; bits < 65536; bits++) {
        const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, part = bits & 1023;
        if (exponent === 31)
            halves[bits] = sign * 65504; /* never written: weights are finite */
        else
            halves[bits] = sign * (exponent ? 2 ** (exponent - 25) * (1024 + part) : part * 2 ** -24);
    }
    return halves;
}

function bytesOf(text) {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++)
        bytes[i] = raw.charCodeAt(i);
    return bytes;
}

/* Throws an Error with a sentence for people. */
export function checkDocument(doc) {
    if (!doc || doc.format !== "rela-attention")
        throw new Error("this is not an attention document");
    if (doc.version !== 1)
        throw new Error(`the attention document has version ${doc.version}; this page reads version 1`);
    return doc;
}

/* All weights of one output in one stack: dense arrays, made when they are first asked for. */
class StackWeights {
    constructor(stack, nQ, nK, text) {
        this.layers = stack.layers;
        this.heads = stack.heads;
        this.nQ = nQ;
        this.nK = nK;
        this.causal = stack.causal;
        this.bytes = bytesOf(text);
        this.starts = new Uint32Array(this.layers * this.heads + 1);
        this.find();
    }

    keysOf(query) {
        return this.causal ? Math.min(query + 1, this.nK) : this.nK;
    }

    /* Where each head begins. */
    find() {
        const { bytes, starts } = this;
        let at = 0;
        for (let head = 0; head < starts.length - 1; head++) {
            starts[head] = at;
            for (let q = 0; q < this.nQ; q++) {
                const n = (this.keysOf(q) + 7) >> 3;
                let set = 0;
                for (let i = 0; i < n; i++)
                    for (let b = bytes[at + i]; b; b &= b - 1)
                        set++;
                at += n + 2 * set;
            }
        }
        starts[starts.length - 1] = at;
        if (at !== bytes.length)
            throw new Error("the attention document is damaged");
    }

    /* Float32Array (nQ, nK) of a head. */
    head(layer, head) {
        const table = halfTable(), { bytes, nK } = this, out = new Float32Array(this.nQ * nK);
        let at = this.starts[layer * this.heads + head];
        for (let q = 0; q < this.nQ; q++) {
            const keys = this.keysOf(q), n = (keys + 7) >> 3;
            let value = at + n;
            for (let k = 0; k < keys; k++)
                if (bytes[at + (k >> 3)] & (1 << (k & 7))) {
                    out[q * nK + k] = table[bytes[value] | (bytes[value + 1] << 8)];
                    value += 2;
                }
            at = value;
        }
        return out;
    }
}

/* The same from a list of [query, layer, head, key, weight], as the server gives it. */
class ListedWeights {
    constructor(stack, nQ, nK, list) {
        Object.assign(this, { layers: stack.layers, heads: stack.heads, nQ, nK, causal: stack.causal, list });
    }

    keysOf(query) {
        return this.causal ? Math.min(query + 1, this.nK) : this.nK;
    }

    head(layer, head) {
        const out = new Float32Array(this.nQ * this.nK);
        for (const [q, l, h, k, w] of this.list)
            if (l === layer && h === head && q < this.nQ && k < this.nK)
                out[q * this.nK + k] = w;
        return out;
    }
}

/* The labels of one side of a map, and which of them belong together as a word. */
export function sideOf(text, shifted, byPiece) {
    const pieces = shifted ? ["(start)", ...text.pieces.slice(0, -1)] : text.pieces;
    const group = [];
    let words = 0;
    for (let i = 0; i < pieces.length; i++) {
        const own = shifted ? i - 1 : i; /* its place in the text */
        const word = own >= 0 && own < text.words.length ? text.words[own] : -1;
        if (byPiece || i === 0 || word < 0 || word !== text.words[own - 1])
            words++;
        group.push(words - 1);
    }
    const labels = new Array(words).fill("");
    for (let i = 0; i < pieces.length; i++)
        labels[group[i]] += byPiece ? pieces[i] : joined(pieces, group, i);
    return { labels, group, n: words };
}

/* A piece without the mark that its word goes on. */
function joined(pieces, group, i) {
    return group[i + 1] === group[i] && pieces[i].endsWith("@@") ? pieces[i].slice(0, -2) : pieces[i];
}

/* Weights between words: sums over the keys of a word, means over its queries. */
function merged(w, queries, keys, nK) {
    const out = new Float32Array(queries.n * keys.n), sizes = new Uint16Array(queries.n);
    for (const q of queries.group)
        sizes[q]++;
    for (let q = 0; q < queries.group.length; q++) {
        const to = queries.group[q] * keys.n, share = 1 / sizes[queries.group[q]];
        for (let k = 0; k < nK; k++)
            out[to + keys.group[k]] += share * w[q * nK + k];
    }
    return out;
}

/* One output (a translation, or a given target) of a sentence, seen by one model. */
export class Output {
    constructor(raw, model) {
        this.raw = raw;
        this.model = model;
        this.stacks = [];
        this.cache = new Map();
        this.target = raw.texts.length - 1;
    }

    get logpPerToken() {
        return this.raw.logp === undefined ? undefined : this.raw.logp / this.raw.texts[this.target].pieces.length;
    }

    /* Label of a text, pieces joined to words. */
    textOf(stream) {
        return sideOf(this.raw.texts[stream], false, false).labels.slice(0, wordCount(this.raw.texts[stream])).join(" ");
    }

    weights(stack) {
        if (!this.stacks[stack]) {
            const of = this.model.stacks[stack], texts = this.raw.texts;
            const rows = this.raw.attention[stack];
            this.stacks[stack] = new (typeof rows === "string" ? StackWeights : ListedWeights)(of,
                texts[of.queries].pieces.length, texts[of.keys].pieces.length, rows);
        }
        return this.stacks[stack];
    }

    /* A head as a map: w (queries.n, keys.n) with the labels of both sides. */
    map(stack, layer, head, byPiece) {
        const name = [stack, layer, head, byPiece].join();
        if (!this.cache.has(name)) {
            if (this.cache.size > 200)
                this.cache.clear();
            const of = this.model.stacks[stack], all = this.weights(stack), texts = this.raw.texts;
            const queries = sideOf(texts[of.queries], of.causal, byPiece);
            const keys = sideOf(texts[of.keys], of.causal, byPiece);
            const rows = all.head(layer, head);
            const w = byPiece ? rows : merged(rows, queries, keys, all.nK);
            const map = { w, queries, keys, nQ: queries.n, nK: keys.n, layer, head, stack,
                          seen: (q) => of.causal && byPiece ? Math.min(q + 1, keys.n) : of.causal ? seenWords(queries, keys, q) : keys.n };
            this.cache.set(name, Object.assign(map, measure(map)));
        }
        return this.cache.get(name);
    }

    stackNumber(key) {
        return this.model.stacks.findIndex((s) => s.key === key);
    }

    /* The cross attention to a source, -1 if there is none. */
    crossOf(source) {
        return this.model.stacks.findIndex((s) => s.queries !== s.keys && s.keys === source);
    }
}

/* Words that the last query of word q may see in causal attention. */
function seenWords(queries, keys, q) {
    const last = queries.group.lastIndexOf(q);
    return keys.group[Math.min(last, keys.group.length - 1)] + 1;
}

/* Words of a text, without its end. */
export function wordCount(text) {
    return text.words.length ? text.words[text.words.length - 1] + 1 : 0;
}

/* Null rows, zeros, entropy of a map. Entropy is that of rows divided by their sum, 0 for null rows. */
function measure(map) {
    const { w, nQ, nK } = map, nulls = new Uint8Array(nQ), counts = new Uint16Array(nQ);
    let zeros = 0, cells = 0, entropy = 0, most = 0, n = 0;
    for (let q = 0; q < nQ; q++) {
        const seen = map.seen(q);
        let sum = 0;
        for (let k = 0; k < seen; k++) {
            const x = Math.abs(w[q * nK + k]);
            sum += x;
            counts[q] += x !== 0;
            most = Math.max(most, x);
        }
        nulls[q] = counts[q] === 0;
        n += nulls[q];
        zeros += seen - counts[q];
        cells += seen;
        for (let k = 0; k < seen && sum > 0; k++) {
            const p = Math.abs(w[q * nK + k]) / sum;
            entropy -= p > 0 ? p * Math.log2(p) : 0;
        }
    }
    return { nulls, counts, most, nullRate: nQ ? n / nQ : 0, sparsity: cells ? zeros / cells : 0,
             entropy: nQ ? entropy / nQ : 0 };
}

/* Links of cross attention between words: the largest weight of each target word; none if that is
 * the end or the row is null. shifted: the row in which the word is the input. Both as `rela align`. */
export function linksOf(output, stack, layer, head, shifted) {
    const of = output.model.stacks[stack], texts = output.raw.texts;
    const rows = output.weights(stack).head(layer, head), nK = texts[of.keys].pieces.length;
    const queries = sideOf(texts[of.queries], false, false), keys = sideOf(texts[of.keys], false, false);
    const moved = shifted ? Float32Array.from({ length: rows.length }, (_, i) => rows[i + nK] || 0) : rows;
    const n = wordCount(texts[of.queries]), ends = wordCount(texts[of.keys]);
    const w = merged(moved, queries, keys, nK), links = [];
    for (let q = 0; q < n; q++) {
        let best = -1, most = 0;
        for (let k = 0; k < keys.n; k++)
            if (w[q * keys.n + k] > most) {
                most = w[q * keys.n + k];
                best = k;
            }
        if (best >= 0 && best < ends)
            links.push([best, q]);
    }
    return links;
}

/* Alignment error rate (Och and Ney 2003) against gold links [source, target, sure]; undefined without
 * any link. */
export function errorRate(links, gold) {
    const sure = new Set(gold.filter((l) => l[2]).map(([a, b]) => `${a}-${b}`));
    const all = new Set(gold.map(([a, b]) => `${a}-${b}`));
    if (!links.length && !sure.size)
        return undefined;
    const count = (set) => links.filter(([a, b]) => set.has(`${a}-${b}`)).length;
    return 1 - (count(sure) + count(all)) / (links.length + sure.size);
}

/* Attention that each source word receives, every row spreading one unit, and the share of heads
 * that look at nothing, for each target word. */
export function coverage(output, stack) {
    const all = output.model.stacks[stack], mass = [], nulls = [];
    for (let layer = 0; layer < all.layers; layer++)
        for (let head = 0; head < all.heads; head++) {
            const map = output.map(stack, layer, head, false);
            for (let q = 0; q < map.nQ; q++) {
                let sum = 0;
                for (let k = 0; k < map.nK; k++)
                    sum += Math.abs(map.w[q * map.nK + k]);
                nulls[q] = (nulls[q] || 0) + map.nulls[q];
                for (let k = 0; k < map.nK && sum > 0; k++)
                    mass[k] = (mass[k] || 0) + Math.abs(map.w[q * map.nK + k]) / sum;
            }
        }
    const heads = all.layers * all.heads;
    return { mass: Array.from(mass, (x) => (x || 0) / heads), nulls: nulls.map((n) => n / heads) };
}

/* The document with outputs as objects. */
export class Corpus {
    constructor(doc) {
        this.doc = checkDocument(doc);
        this.models = doc.models;
        this.sentences = doc.sentences.map((s, i) => ({
            number: i,
            line: s.line,
            gold: s.gold || [],
            outputs: s.outputs.map((o) => new Output(o, doc.models[o.model])),
        })).filter((s) => s.outputs.length);
        this.sentences.forEach((s, i) => s.number = i);
    }
}
