/* SPDX-License-Identifier: MIT */
/* src/serve/embedded.c - see embedded.h. Texts of users and models reach the page as text nodes
 * only. */
#include "serve/embedded.h"

#include <string.h>

/* clang-format off */
const char RELA_PAGE_HTML[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head><meta charset=\"utf-8\"><title>rela</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"></head>\n"
    "<body>\n"
    "<h1>rela</h1>\n"
    "<p><label>Languages <select id=\"pair\"></select></label> <button id=\"go\">Translate</button></p>\n"
    "<p><label for=\"source\">Text</label><br><textarea id=\"source\" rows=\"8\" cols=\"80\" autofocus></textarea></p>\n"
    "<p>Translation</p>\n"
    "<pre id=\"target\" aria-live=\"polite\"></pre>\n"
    "<script src=\"rela.js\"></script>\n"
    "</body></html>\n";

const char RELA_PAGE_SCRIPT[] =
    "'use strict';\n"
    "const pair = document.getElementById('pair');\n"
    "const source = document.getElementById('source');\n"
    "const target = document.getElementById('target');\n"
    "const key = 'page-' + Math.random().toString(36).slice(2);\n"
    "let timer = 0;\n"
    "async function languages() {\n"
    "  for (const l of await (await fetch('languages')).json())\n"
    "    for (const t of l.targets) {\n"
    "      const o = document.createElement('option');\n"
    "      o.value = l.code + ' ' + t;\n"
    "      o.textContent = l.code + ' \\u2192 ' + t;\n"
    "      pair.append(o);\n"
    "    }\n"
    "}\n"
    "async function translate() {\n"
    "  if (!source.value.trim()) { target.textContent = ''; return; }\n"
    "  const [from, to] = pair.value.split(' ');\n"
    "  const answer = await fetch('v1/translate', { method: 'POST', headers: { 'Content-Type': 'application/json' },\n"
    "    body: JSON.stringify({ text: source.value, source: from, target: to, supersede: key }) });\n"
    "  const json = await answer.json();\n"
    "  if (answer.status !== 409)\n"
    "    target.textContent = answer.ok ? json.translations[0].text : json.error;\n"
    "}\n"
    "function soon() { clearTimeout(timer); timer = setTimeout(translate, 300); }\n"
    "source.addEventListener('input', soon);\n"
    "pair.addEventListener('change', translate);\n"
    "document.getElementById('go').addEventListener('click', translate);\n"
    "languages();\n";

#define OPERATION(summary) "{\"summary\":\"" summary "\",\"responses\":{\"200\":{\"description\":\"OK\"}}}"
const char RELA_PAGE_SPEC[] =
    "{\"openapi\":\"3.0.3\",\"info\":{\"title\":\"rela\",\"version\":\"1\"},\"paths\":{"
    "\"/translate\":{\"post\":" OPERATION("Translate: q, source, target, format, alternatives") "},"
    "\"/languages\":{\"get\":" OPERATION("Languages and their targets") "},"
    "\"/detect\":{\"post\":" OPERATION("Detect the language of q") "},"
    "\"/frontend/settings\":{\"get\":" OPERATION("Settings of the server") "},"
    "\"/health\":{\"get\":" OPERATION("The server runs") "},"
    "\"/ready\":{\"get\":" OPERATION("The server can take requests") "},"
    "\"/v2/translate\":{\"post\":" OPERATION("Translate as DeepL: text, source_lang, target_lang") "},"
    "\"/v2/languages\":{\"get\":" OPERATION("Languages as DeepL") "},"
    "\"/v2/usage\":{\"get\":" OPERATION("There is no quota") "},"
    "\"/v1/translate\":{\"post\":" OPERATION("Translate with every option of the library") "},"
    "\"/v1/models\":{\"get\":" OPERATION("The models that are served") "},"
    "\"/v1/requests/{id}\":{\"delete\":" OPERATION("Cancel a request by its X-Request-Id") "}}}";
/* clang-format on */

const char *rela_page_language(const char *code)
{
    static const char *const NAMES[][2] = {
        { "ar", "Arabic" },   { "bg", "Bulgarian" }, { "cs", "Czech" },     { "da", "Danish" },
        { "de", "German" },   { "el", "Greek" },     { "en", "English" },   { "es", "Spanish" },
        { "et", "Estonian" }, { "fi", "Finnish" },   { "fr", "French" },    { "hu", "Hungarian" },
        { "it", "Italian" },  { "ja", "Japanese" },  { "ko", "Korean" },    { "lt", "Lithuanian" },
        { "lv", "Latvian" },  { "nl", "Dutch" },     { "pl", "Polish" },    { "pt", "Portuguese" },
        { "ro", "Romanian" }, { "ru", "Russian" },   { "sk", "Slovak" },    { "sl", "Slovenian" },
        { "sv", "Swedish" },  { "tr", "Turkish" },   { "uk", "Ukrainian" }, { "zh", "Chinese" },
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(code, NAMES[i][0]) == 0)
            return NAMES[i][1];
    return code;
}
