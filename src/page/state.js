/* SPDX-License-Identifier: MIT */
/* src/page/state.js - what is shown: kept in the address (#s=12&h=3.4), so that it can be sent.
 * Numbers in the address count from 1, here from 0. */

export const state = {
    corpus: null,
    sentence: 0,
    output: 0,    /* of the sentence */
    beside: -1,   /* the output beside it; -1: none */
    stack: 0,     /* of the model */
    layer: 0,
    head: 0,
    side: "",     /* of the chosen word: "q" or "k"; "": none */
    word: 0,
    byPiece: false,
    view: "sentence", /* or "corpus" */
};

const listeners = [];

/* Calls f after each change, with the names of what has changed. */
export function onChange(f) {
    listeners.push(f);
}

export function change(what) {
    const names = Object.keys(what).filter((k) => state[k] !== what[k]);
    if (!names.length)
        return;
    Object.assign(state, what);
    if (names.includes("sentence") && !("output" in what))
        Object.assign(state, { output: 0, beside: besideOf(0), side: "" });
    settle();
    tell(names);
}

export function tell(names) {
    keep();
    for (const f of listeners)
        f(names);
}

export function sentence() {
    return state.corpus.sentences[state.sentence];
}

export function output() {
    return sentence().outputs[state.output];
}

/* The output of another model, if one is shown beside. */
function besideOf(own) {
    const all = state.corpus.sentences[state.sentence].outputs;
    const wanted = state.beside >= 0;
    return wanted ? all.findIndex((o, i) => i !== own && o.model !== all[own].model) : -1;
}

/* Brings all numbers into range. */
function settle() {
    const within = (x, n) => Math.max(0, Math.min(x, n - 1));
    state.sentence = within(state.sentence, state.corpus.sentences.length);
    state.output = within(state.output, sentence().outputs.length);
    if (state.beside >= sentence().outputs.length || state.beside === state.output)
        state.beside = -1;
    const stacks = output().model.stacks;
    state.stack = within(state.stack, stacks.length);
    state.layer = within(state.layer, stacks[state.stack].layers);
    state.head = within(state.head, stacks[state.stack].heads);
}

/* The last cross attention of the first model, head 1: what people ask for first. */
export function open(corpus) {
    const stacks = corpus.models[0].stacks;
    const cross = stacks.findIndex((s) => s.queries !== s.keys);
    Object.assign(state, { corpus, sentence: 0, output: 0, beside: -1, side: "", word: 0 });
    state.stack = Math.max(0, cross);
    state.layer = stacks[state.stack].layers - 1;
    state.head = 0;
    recall();
    settle();
}

function keep() {
    const o = output(), parts = [`s=${state.sentence + 1}`, `h=${state.layer + 1}.${state.head + 1}`,
                                 `a=${encodeURIComponent(o.model.stacks[state.stack].key)}`];
    if (state.output)
        parts.push(`o=${state.output + 1}`);
    if (state.beside >= 0)
        parts.push(`b=${state.beside + 1}`);
    if (state.side)
        parts.push(`w=${state.side}${state.word + 1}`);
    if (state.byPiece)
        parts.push("p=1");
    if (state.view !== "sentence")
        parts.push(`v=${state.view}`);
    try {
        history.replaceState(null, "", "#" + parts.join("&"));
    } catch (e) {
        /* a frame made from text has no address of its own */
    }
}

export function recall() {
    const given = new Map(location.hash.slice(1).split("&").map((x) => x.split("=")));
    const number = (name) => Math.max(0, (parseInt(given.get(name), 10) || 1) - 1);
    if (given.has("s"))
        state.sentence = Math.min(number("s"), state.corpus.sentences.length - 1);
    if (given.has("o"))
        state.output = number("o");
    if (given.has("b"))
        state.beside = number("b");
    if (given.has("a")) {
        const key = decodeURIComponent(given.get("a"));
        const found = state.corpus.models[0].stacks.findIndex((s) => s.key === key);
        state.stack = found >= 0 ? found : state.stack;
    }
    const head = /^(\d+)\.(\d+)$/.exec(given.get("h") || "");
    if (head) {
        state.layer = head[1] - 1;
        state.head = head[2] - 1;
    }
    const word = /^([qk])(\d+)$/.exec(given.get("w") || "");
    state.side = word ? word[1] : "";
    state.word = word ? word[2] - 1 : 0;
    state.byPiece = given.get("p") === "1";
    state.view = given.get("v") === "corpus" ? "corpus" : "sentence";
}

/* The address was changed by hand, or by going back. */
export function follow() {
    recall();
    settle();
    for (const f of listeners)
        f(["sentence", "output", "stack", "layer", "head", "side", "word", "byPiece", "view", "beside"]);
}
