/* SPDX-License-Identifier: MIT */
/* src/page/dom.js - making elements. Text becomes text nodes, never markup. */

/* An element with attributes (a function is a listener, false leaves out) and children. */
export function make(tag, attributes, ...children) {
    const e = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
        if (typeof value === "function")
            e.addEventListener(name, value);
        else if (value === true)
            e.setAttribute(name, "");
        else if (value !== false && value !== undefined)
            e.setAttribute(name, value);
    e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false).map((c) =>
        typeof c === "object" ? c : document.createTextNode(String(c))));
    return e;
}

/* A panel: a heading, one sentence that says what it shows, and its body. */
export function panel(id, title, says, ...tools) {
    const body = make("div", { class: "body" });
    const section = make("section", { id, class: "panel", "aria-labelledby": `${id}-title` },
        make("header", {}, make("h2", { id: `${id}-title` }, title), make("div", { class: "tools" }, ...tools)),
        make("p", { class: "says" }, says), body);
    return { section, body };
}

export function fill(parent, ...children) {
    parent.replaceChildren(...children.flat().filter((c) => c).map((c) =>
        typeof c === "object" ? c : document.createTextNode(String(c))));
}

/* A labelled choice; options: [value, text]. */
export function choice(label, options, value, pick) {
    const select = make("select", { change: () => pick(select.value) },
        options.map(([v, text]) => make("option", { value: v, selected: String(v) === String(value) }, text)));
    return make("label", { class: "choice" }, make("span", {}, label), select);
}

export function percent(x) {
    return `${(100 * x).toFixed(x > 0 && x < 0.01 ? 1 : 0)} %`;
}

/* A weight with three digits; an exact zero is "0", so it differs from a tiny weight. */
export function weightText(x) {
    return x === 0 ? "0" : Math.abs(x) >= 0.001 ? Number(x.toPrecision(3)).toString() : x.toExponential(1);
}

export function download(name, type, text) {
    const blob = text instanceof Blob ? text : new Blob([text], { type });
    const link = make("a", { href: URL.createObjectURL(blob), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/* Tabs and line ends inside of a cell would break the table. */
export function tsvOf(rows) {
    return rows.map((r) => r.map((c) => String(c).replace(/[\t\n\r]/g, " ")).join("\t")).join("\n") + "\n";
}

export async function copyText(text, button) {
    const before = button.textContent;
    try {
        await navigator.clipboard.writeText(text);
    } catch (e) {
        const area = make("textarea", {}, text);
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
    }
    button.textContent = "copied";
    setTimeout(() => button.textContent = before, 1200);
}
