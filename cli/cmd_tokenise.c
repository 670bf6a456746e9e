/* SPDX-License-Identifier: MIT */
/* cli/cmd_tokenise.c - rela tokenise: words and punctuation marks, separated by spaces. */
#include "languages.h"
#include "textline.h"

#include "base/mem.h"
#include "rela/text.h"

#include <string.h>

enum { PATTERNS_MAX = 1000, PATTERNS_FILE_MAX = 1 << 20 };

typedef struct tokenise_options {
    const char *language;
    bool escape;
    bool aggressive_dash;
    const char *protect;
    bool lowercase;
    const char *output;
} tokenise_options;

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status read_patterns(const char ***patterns, size_t *n, char **text, const char *path,
                                 rela_error *err);
static rela_status apply(const void *object, rela_buffer *out, const char *text, size_t len,
                         rela_error *err);

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "language", 'l', RELA_OPTION_TEXT, offsetof(tokenise_options, language), 0, 0, "en", "CODE",
      "language of the text: en, de, fr, cs; others get general rules; unless given, that of the name of the file (text.de.gz) if it has one" },
    { "escape", 'x', RELA_OPTION_FLAG, offsetof(tokenise_options, escape), 0, 0, "true", NULL,
      "write & | < > ' \" [ ] as entities like &amp;" },
    { "aggressive-dash", 'a', RELA_OPTION_FLAG, offsetof(tokenise_options, aggressive_dash), 0, 0, NULL, NULL,
      "split words at hyphens, marked @-@" },
    { "protected", 'p', RELA_OPTION_FILE, offsetof(tokenise_options, protect), 0, 0, NULL, "FILE",
      "patterns (PCRE2, one per line) of text to keep as one token; ':basic:' and ':web:' are built in" },
    { "lowercase", 0, RELA_OPTION_FLAG, offsetof(tokenise_options, lowercase), 0, 0, NULL, NULL,
      "lower-case the tokens" },
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(tokenise_options, output), 0, 0, NULL, "FILE",
      "write to a file instead of standard output" },
    { .name = NULL },
};
/* clang-format on */

const rela_command rela_commands_tokenise[] = {
    { .name = "tokenise",
      .alias = "tokenize",
      .summary = "split text into words and punctuation marks",
      .operands = "[FILE...]",
      .max_operands = SIZE_MAX,
      .description = "Reads lines of text and writes the tokens of each line, separated by single "
                     "spaces, as the Moses tokeniser does. Each input line gives one output line.",
      .examples = "rela tokenise -l de < text.de > text.tok.de\n"
                  "rela tokenise -l en --protected :web: tweets.gz -o tweets.tok",
      .options = OPTIONS,
      .options_size = sizeof(tokenise_options),
      .in_place = true,
      .needs = RELA_CLI_NO_FIGURES,
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const tokenise_options *o = options;
    const char **patterns = NULL;
    char *text = NULL;
    rela_tokeniser *t = NULL;
    rela_tokeniser_options settings = { .struct_size = sizeof settings,
                                        .language = rela_cli_language(cli, o->language),
                                        .no_escape = !o->escape,
                                        .aggressive_dash = o->aggressive_dash,
                                        .lowercase = o->lowercase };
    rela_status st = RELA_OK;
    if (o->protect && strcmp(o->protect, ":web:") == 0) {
        settings.protect = rela_tokeniser_patterns(&settings.n_protect, "web");
    } else if (o->protect && strcmp(o->protect, ":basic:") == 0) {
        settings.protect = rela_tokeniser_patterns(&settings.n_protect, "basic");
    } else if (o->protect) {
        st = read_patterns(&patterns, &settings.n_protect, &text, o->protect, err);
        settings.protect = patterns;
    }
    if (st == RELA_OK) {
        st = rela_tokeniser_create(&t, &settings, err);
        if (st == RELA_FORMAT)
            (void)rela_fail_in(err, st, o->protect);
    }
    if (st == RELA_OK)
        st = rela_cli_run_text(cli, apply, t, "tokenise", o->output, err);
    rela_tokeniser_destroy(t);
    rela_mem_free(patterns);
    rela_mem_free(text);
    return st;
}

/* One pattern per line; empty lines are skipped. The patterns point into *text; the caller frees
 * both, also on failure. */
static rela_status read_patterns(const char ***patterns, size_t *n, char **text, const char *path,
                                 rela_error *err)
{
    size_t len = 0;
    rela_status st = rela_file_read(text, &len, path, PATTERNS_FILE_MAX, err);
    if (st != RELA_OK)
        return st;
    if (memchr(*text, '\0', len))
        return rela_fail(err, RELA_FORMAT, "%s: NUL byte in a pattern", path);
    *patterns = rela_mem_array(PATTERNS_MAX, sizeof **patterns);
    if (!*patterns)
        return rela_fail(err, RELA_NOMEM, "%s: no memory for patterns", path);
    char *line = *text;
    for (size_t number = 1; line && *line; number++) {
        char *end = strchr(line, '\n');
        const rela_span s =
            rela_trim((rela_span){ line, end ? (size_t)(end - line) : strlen(line) });
        line[s.text - line + (ptrdiff_t)s.len] = '\0';
        if (s.len && *n == PATTERNS_MAX)
            return rela_fail(err, RELA_FORMAT, "%s: line %zu: more than %d patterns", path, number,
                             PATTERNS_MAX);
        if (s.len)
            (*patterns)[(*n)++] = s.text;
        line = end ? end + 1 : NULL;
    }
    return RELA_OK;
}

static rela_status apply(const void *object, rela_buffer *out, const char *text, size_t len,
                         rela_error *err)
{
    return rela_tokenise(out, object, text, len, err);
}
