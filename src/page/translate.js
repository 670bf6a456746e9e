/* SPDX-License-Identifier: MIT */
/* src/page/translate.js - the translate box of `rela serve`: POST /v1/translate of the same origin,
 * whose answer has an attention document. Not there when the page is opened from a file. */
import { choice, make } from "./dom.js";

const WAIT_MS = 300;
const PAGE_KEY = `page-${Math.random().toString(36).slice(2)}`; /* a new request replaces an older one */
const REASONS = {
    cut: "it reached its maximum length without an end", length: "it is much longer or shorter than its source",
    repetition: "the same words come again and again", improbable: "the model itself thinks it improbable",
    overflow: "the numbers of the model overflowed",
};

export function translateBox(show) {
    const input = make("textarea", { id: "text", rows: "3", dir: "auto", spellcheck: "true", "aria-label": "text to translate", placeholder: "Text to translate" });
    const result = make("p", { id: "translation", class: "translation", role: "status", "aria-live": "polite", dir: "auto" });
    const languages = make("div", { class: "tools" });
    let timer = 0, running = null, pair = "";
    pairsOfServer().then((pairs) => {
        pair = pairs.length ? pairs[0][0] : "";
        if (pairs.length > 1)
            languages.append(choice("languages", pairs, pair, (v) => { pair = v; run(); }));
    }, () => {}).then(() => {
        const asked = /^#t=(.+)/.exec(location.hash); /* an address with a text */
        if (asked && !input.value) {
            input.value = decodeURIComponent(asked[1]);
            run();
        }
    });
    const run = async () => {
        const text = input.value.trim();
        running?.abort();
        if (!text)
            return result.replaceChildren();
        const own = running = new AbortController();
        result.classList.add("waiting");
        try {
            const answer = await ask(text, pair, own.signal);
            result.replaceChildren(answer.text);
            if (answer.document)
                show(answer.document);
        } catch (e) {
            if (e.name !== "AbortError")
                result.replaceChildren(make("span", { class: "failure" }, e.message));
        } finally {
            if (running === own)
                result.classList.remove("waiting");
        }
    };
    input.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(run, WAIT_MS);
    });
    input.addEventListener("keydown", (e) => {
        e.stopPropagation();
        if (e.key === "Enter" && (e.ctrlKey || e.metaKey))
            run();
    });
    return make("section", { id: "translate", class: "panel", "aria-labelledby": "translate-title" },
        make("header", {}, make("h2", { id: "translate-title" }, "Translate"), languages),
        make("p", { class: "says" }, "Type a sentence; its translation appears below it, and what the model looked at below that."), input, result);
}

/* docs/viewer.md says what is asked and what is answered. */
async function ask(text, pair, signal) {
    const [source, target] = pair ? pair.split(" ") : [];
    const reply = await fetch("v1/translate", {
        method: "POST", signal, headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ text, source, target, n_best: 3, tokens: true, attention: true, warnings: true, document: true, supersede: PAGE_KEY }),
    });
    const answer = await reply.json().catch(() => ({}));
    if (!reply.ok)
        throw new Error(typeof answer.error === "string" ? answer.error : `the server answered ${reply.status}`);
    return { text: answer.translations[0].text, document: answer.document || documentOf(answer.translations) };
}

/* The server's names of reasons, as a sentence. */
function warningOf(reasons) {
    return reasons.length ? `The translation may be wrong: ${reasons.map((x) => REASONS[x] || x).join("; ")}.` : "";
}

/* A document of the translations of one text, sentence by sentence, with the cross attention that the
 * server gives. */
function documentOf(translations) {
    const parts = translations.map((t) => (t.sentences || [t]).filter((x) => x.attention && x.tokens && x.source_tokens));
    const all = parts.flat();
    if (!all.length)
        return null;
    const most = (at) => all.reduce((high, x) => x.attention.reduce((h, w) => Math.max(h, w[at] + 1), high), 1);
    const textOf = (pieces) => ({ pieces, words: wordsOf(pieces) });
    const outputOf = (x, i) => ({
        model: 0, label: `translation ${i + 1}`, score: x.score, logp: x.logp, token_logps: x.tokens.map((w) => w[1]), null_rate: x.null_rate,
        support: { uncovered: [], unsupported: [], heads: [], warning: warningOf(x.warnings || []) },
        texts: [textOf(x.source_tokens), textOf(x.tokens.map((w) => w[0]))], attention: [x.attention],
    });
    const sentences = Array.from({ length: Math.max(...parts.map((p) => p.length)) }, (_, line) => ({
        line: line + 1, outputs: parts.map((p, i) => p[line] && outputOf(p[line], i)).filter(Boolean) }));
    return {
        format: "rela-attention", version: 1, sentences,
        models: [{ name: "the server's model", languages: [], stacks: [{ key: "cross", label: "cross", queries: 1, keys: 0, layers: most(1), heads: most(2), causal: false }] }],
    };
}

/* The number of the word of each token but the last, which is the end. */
function wordsOf(pieces) {
    const words = [];
    for (let i = 0; i + 1 < pieces.length; i++)
        words.push(i === 0 ? 0 : words[i - 1] + (pieces[i - 1].endsWith("@@") ? 0 : 1));
    return words;
}

/* The pairs of languages that the server has. */
async function pairsOfServer() {
    const reply = await fetch("languages");
    const list = reply.ok ? await reply.json() : [];
    return list.flatMap((l) => l.targets.filter((t) => t !== l.code).map((t) => [`${l.code} ${t}`, `${l.code} → ${t}`]));
}
