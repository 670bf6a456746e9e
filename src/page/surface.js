/* SPDX-License-Identifier: MIT */
/* src/page/surface.js - one set of drawing calls for the screen (canvas), PNG and SVG, so that all
 * three show the same. Sizes are in CSS pixels. */

export function colours() {
    const style = getComputedStyle(document.documentElement);
    const names = ["ink", "soft", "line", "back", "accent", "null", "null-wash", "gold", "minus", "cold", "hot"];
    return Object.fromEntries(names.map((n) => [n, style.getPropertyValue(`--${n}`).trim()]));
}

const FONT = 'system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';
const LEVELS = 24;

function channels(hex) {
    return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

/* The colours of weights above zero, pale to strong; never that of the background. */
export function ramp(from, to) {
    const a = channels(from), b = channels(to);
    return Array.from({ length: LEVELS }, (_, i) => {
        const t = i / (LEVELS - 1);
        return "#" + a.map((x, c) => Math.round(x + t * (b[c] - x)).toString(16).padStart(2, "0")).join("");
    });
}

/* The level of a share of the largest weight; roots, so that small weights can be seen. */
export function level(share) {
    return Math.min(LEVELS - 1, Math.max(0, Math.floor(Math.sqrt(share) * LEVELS)));
}

export class CanvasSurface {
    constructor(canvas, width, height, scale) {
        const ratio = scale || window.devicePixelRatio || 1;
        canvas.width = Math.ceil(width * ratio);
        canvas.height = Math.ceil(height * ratio);
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
        this.c = canvas.getContext("2d");
        this.c.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.c.clearRect(0, 0, width, height);
    }

    rects(colour, list) {
        this.c.fillStyle = colour;
        for (const [x, y, w, h] of list)
            this.c.fillRect(x, y, w, h);
    }

    outline(colour, x, y, w, h, width, dash) {
        this.c.strokeStyle = colour;
        this.c.lineWidth = width;
        this.c.setLineDash(dash || []);
        this.c.strokeRect(x, y, w, h);
        this.c.setLineDash([]);
    }

    line(colour, x1, y1, x2, y2, width) {
        this.c.strokeStyle = colour;
        this.c.lineWidth = width;
        this.c.beginPath();
        this.c.moveTo(x1, y1);
        this.c.lineTo(x2, y2);
        this.c.stroke();
    }

    ring(colour, x, y, r, width, filled) {
        this.c.beginPath();
        this.c.arc(x, y, r, 0, 2 * Math.PI);
        this.c.lineWidth = width;
        this.c.strokeStyle = this.c.fillStyle = colour;
        filled ? this.c.fill() : this.c.stroke();
    }

    /* align: "start", "end" or "middle" of the text is at x; turn: degrees. */
    text(colour, text, x, y, size, align, turn, bold) {
        this.c.save();
        this.c.translate(x, y);
        this.c.rotate((turn || 0) * Math.PI / 180);
        this.c.font = `${bold ? "600 " : ""}${size}px ${FONT}`;
        this.c.fillStyle = colour;
        this.c.textBaseline = "middle";
        this.c.textAlign = align === "end" ? "right" : align === "middle" ? "center" : "left";
        this.c.fillText(text, 0, 0);
        this.c.restore();
    }
}

function escaped(text) {
    return String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

export class SvgSurface {
    constructor(width, height, back) {
        this.parts = [`<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${Math.ceil(height)}" ` +
            `viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}">`,
            `<rect width="100%" height="100%" fill="${back}"/>`];
    }

    rects(colour, list) {
        if (list.length)
            this.parts.push(`<path fill="${colour}" d="${list.map(([x, y, w, h]) =>
                `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}z`).join("")}"/>`);
    }

    outline(colour, x, y, w, h, width, dash) {
        this.parts.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" fill="none" ` +
            `stroke="${colour}" stroke-width="${width}"${dash ? ` stroke-dasharray="${dash.join(" ")}"` : ""}/>`);
    }

    line(colour, x1, y1, x2, y2, width) {
        this.parts.push(`<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" ` +
            `stroke="${colour}" stroke-width="${width}"/>`);
    }

    ring(colour, x, y, r, width, filled) {
        this.parts.push(`<circle cx="${round(x)}" cy="${round(y)}" r="${r}" stroke="${colour}" ` +
            `stroke-width="${width}" fill="${filled ? colour : "none"}"/>`);
    }

    text(colour, text, x, y, size, align, turn, bold) {
        const spin = turn ? ` transform="rotate(${turn} ${round(x)} ${round(y)})"` : "";
        this.parts.push(`<text x="${round(x)}" y="${round(y)}" font-size="${size}" font-family="${escaped(FONT)}" ` +
            `fill="${colour}" text-anchor="${align || "start"}" dominant-baseline="central"${bold ? ' font-weight="600"' : ""}${spin}>` +
            `${escaped(text)}</text>`);
    }

    end() {
        return this.parts.join("\n") + "\n</svg>\n";
    }
}

function round(x) {
    return Math.round(x * 100) / 100;
}

/* Width of a text in pixels. */
let ruler = null;
export function widthOf(text, size) {
    ruler = ruler || document.createElement("canvas").getContext("2d");
    ruler.font = `${size}px ${FONT}`;
    return ruler.measureText(text).width;
}

/* A text cut to a width, with an ellipsis. */
export function cut(text, size, width) {
    if (widthOf(text, size) <= width)
        return text;
    let n = Math.max(1, Math.floor(text.length * width / widthOf(text, size)));
    const letters = Array.from(text);
    while (n > 1 && widthOf(letters.slice(0, n).join("") + "…", size) > width)
        n--;
    return letters.slice(0, n).join("") + "…";
}
