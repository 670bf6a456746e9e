/* SPDX-License-Identifier: MIT */
/* src/serve/embedded.c - see embedded.h. */
#include "serve/embedded.h"

#include <string.h>

/* clang-format off */
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
