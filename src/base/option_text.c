/* SPDX-License-Identifier: MIT */
/* src/base/option_text.c - help and manual pages from the tables of option.h; completions are in
 * option_shell.c. */
#include "base/compose.h"
#include "base/option.h"
#include "base/str.h"

#include <string.h>

enum { HELP_COLUMN = 28, HELP_WIDTH = 80, USAGE_INDENT = 4 };

static void help_usage(rela_composer *t, const rela_command *c);
static void help_examples(rela_composer *t, const char *lines);
static void help_rows(rela_composer *t, const rela_option *o);
static void help_row(rela_composer *t, const rela_option *o);
static void flow(rela_composer *t, const char *words, size_t column, size_t indent);
static size_t piece(const char *words, size_t room);
static void put_help(rela_composer *t, const rela_option *o);
static void put_note(rela_composer *t, const rela_option *o, rela_span words);
static void put_page_name(rela_composer *t, const char *command);
static void man_rows(rela_composer *t, const rela_option *o);
static void man_text(rela_composer *t, const char *words);

rela_status rela_options_help(rela_buffer *out, const rela_command *c, const rela_option *common,
                              rela_error *err)
{
    rela_composer t = { out, err, RELA_OK };
    help_usage(&t, c);
    flow(&t, c->description ? c->description : c->summary, 0, 0);
    rela_compose(&t, "\n");
    if (c->options && c->options->name) {
        rela_compose(&t, "Options:\n");
        help_rows(&t, c->options);
        rela_compose(&t, "\n");
    }
    rela_compose(&t, "Options of every command:\n");
    help_rows(&t, common);
    if (c->examples)
        help_examples(&t, c->examples);
    return t.status;
}

rela_status rela_options_man(rela_buffer *out, const rela_command *c, const rela_option *common,
                             rela_error *err)
{
    rela_composer t = { out, err, RELA_OK };
    rela_compose(&t, ".TH \"");
    put_page_name(&t, c->name);
    rela_compose(&t, "\" 1 \"\" \"rela %d.%d.%d\" \"rela manual\"\n.SH NAME\n", RELA_VERSION_MAJOR,
                 RELA_VERSION_MINOR, RELA_VERSION_PATCH);
    put_page_name(&t, c->name);
    rela_compose(&t, " \\- %s\n.SH SYNOPSIS\n.B rela %s\n[OPTION...] %s\n.SH DESCRIPTION\n",
                 c->summary, c->name, c->operands);
    man_text(&t, c->description ? c->description : c->summary);
    rela_compose(&t, ".SH OPTIONS\n");
    if (c->options)
        man_rows(&t, c->options);
    rela_compose(&t, ".SS Options of every command\n");
    man_rows(&t, common);
    if (c->examples) {
        rela_compose(&t, ".SH EXAMPLES\n.nf\n");
        man_text(&t, c->examples);
        rela_compose(&t, ".fi\n");
    }
    rela_compose(&t,
                 ".SH EXIT STATUS\n0 success, 1 run-time error, 2 usage error, 3 bad data, 128+n "
                 "after a stop by signal n.\n.SH SEE ALSO\n.BR rela (1)\n");
    return t.status;
}

static void help_usage(rela_composer *t, const rela_command *c)
{
    rela_buffer words = RELA_BUFFER_INIT;
    rela_composer line = { &words, t->err, t->status };
    rela_compose(&line, "usage: rela %s [OPTION...]%s%s", c->name, *c->operands ? " " : "",
                 c->operands);
    if (line.status == RELA_OK)
        flow(t, words.data, 0, USAGE_INDENT);
    rela_compose(t, "\n");
    t->status = line.status == RELA_OK ? t->status : line.status;
    rela_buffer_free(&words);
}

static void help_examples(rela_composer *t, const char *lines)
{
    rela_compose(t, "\nExamples:\n");
    while (*lines) {
        const size_t len = strcspn(lines, "\n");
        rela_compose(t, "  %.*s\n", (int)len, lines);
        lines += len + (lines[len] == '\n');
    }
}

static void help_rows(rela_composer *t, const rela_option *o)
{
    for (; o->name; o++)
        help_row(t, o);
}

static void help_row(rela_composer *t, const rela_option *o)
{
    rela_buffer words = RELA_BUFFER_INIT;
    rela_composer right = { &words, t->err, t->status };
    const size_t start = t->out->len;
    if (o->letter)
        rela_compose(t, "  -%c, ", o->letter);
    else
        rela_compose(t, "      ");
    const char *value = o->type == RELA_OPTION_CHOICE ? "WORD" : o->value;
    rela_compose(t, "--%s%s%s", o->name, value ? " " : "", value ? value : "");
    size_t column = t->out->len - start;
    if (column + 2 > HELP_COLUMN) {
        rela_compose(t, "\n");
        column = 0;
    }
    rela_compose(t, "%*s", (int)(HELP_COLUMN - column), "");
    put_help(&right, o);
    if (right.status == RELA_OK)
        flow(t, words.data, HELP_COLUMN, HELP_COLUMN);
    t->status = right.status == RELA_OK ? t->status : right.status;
    rela_buffer_free(&words);
}

/* Wraps text to HELP_WIDTH; LF is a blank, LF LF starts a paragraph. */
static void flow(rela_composer *t, const char *words, size_t column, size_t indent)
{
    bool glued = false; /* the previous part was the start of a long word */
    while (*words) {
        const size_t word = piece(words, HELP_WIDTH - indent);
        if (column > indent && (glued || column + 1 + word > HELP_WIDTH)) {
            rela_compose(t, "\n%*s", (int)indent, "");
            column = indent;
        }
        if (column > indent && word) {
            rela_compose(t, " ");
            column++;
        }
        rela_compose(t, "%.*s", (int)word, words);
        column += word;
        words += word;
        glued = *words && *words != ' ' && *words != '\n';
        if (words[0] == '\n' && words[1] == '\n') {
            rela_compose(t, "\n\n%*s", (int)indent, "");
            column = indent;
            words++;
        }
        words += *words == ' ' || *words == '\n';
    }
    rela_compose(t, "\n");
}

/* Bytes of the next word; if it does not fit on a line, the part that fits, up to a bar if there is
 * one: a list of choices has no blanks. */
static size_t piece(const char *words, size_t room)
{
    const size_t word = strcspn(words, " \n");
    if (word <= room)
        return word;
    size_t cut = room;
    while (cut > 1 && words[cut - 1] != '|')
        cut--;
    return cut > 1 ? cut : room;
}

/* The sentence, and range and default in brackets. A default in words at the end of the sentence is
 * shown in the same form as any other. */
static void put_help(rela_composer *t, const rela_option *o)
{
    const size_t len = strlen(o->help);
    const char *open = len && o->help[len - 1] == ']' ? strrchr(o->help, '[') : NULL;
    const size_t text = open > o->help ? (size_t)(open - o->help) - 1 : len;
    rela_compose(t, "%.*s", (int)text, o->help);
    put_note(t, o, text < len ? (rela_span){ open + 1, strlen(open) - 2 } : (rela_span){ "", 0 });
}

/* words: the default in words, or empty. */
static void put_note(rela_composer *t, const rela_option *o, rela_span words)
{
    const bool number = o->type == RELA_OPTION_INT || o->type == RELA_OPTION_REAL;
    const bool range = number || o->type == RELA_OPTION_CHOICE;
    const bool initial = o->initial && *o->initial && strcmp(o->initial, "false") != 0;
    if (!range && !initial && !words.len)
        return;
    rela_compose(t, " [");
    if (number && o->max < 1e15)
        rela_compose(t, "%.15g..%.15g", o->min, o->max);
    else if (number)
        rela_compose(t, "from %.15g", o->min);
    else if (range)
        rela_compose(t, "%s", o->value);
    if (initial)
        words = (rela_span){ o->initial, strlen(o->initial) };
    if (words.len)
        rela_compose(t, "%sdefault %.*s", range ? "; " : "", (int)words.len, words.text);
    if (initial && o->type == RELA_OPTION_FLAG)
        rela_compose(t, "; --no-%s turns it off", o->name);
    rela_compose(t, "]");
}

static void put_page_name(rela_composer *t, const char *command)
{
    rela_compose(t, "rela-");
    for (; *command; command++)
        rela_compose(t, "%c", *command == ' ' ? '-' : *command);
}

static void man_rows(rela_composer *t, const rela_option *o)
{
    for (; o->name; o++) {
        rela_compose(t, ".TP\n");
        if (o->letter)
            rela_compose(t, "\\fB\\-%c\\fR, ", o->letter);
        rela_compose(t, "\\fB\\-\\-");
        for (const char *p = o->name; *p; p++)
            rela_compose(t, "%s%c", *p == '-' ? "\\" : "", *p);
        rela_compose(t, "\\fR");
        if (o->value)
            rela_compose(t, " \\fI%s\\fR", o->type == RELA_OPTION_CHOICE ? "WORD" : o->value);
        rela_compose(t, "\n");
        rela_buffer words = RELA_BUFFER_INIT;
        rela_composer help = { &words, t->err, t->status };
        put_help(&help, o);
        if (help.status == RELA_OK)
            man_text(t, words.data);
        t->status = help.status == RELA_OK ? t->status : help.status;
        rela_buffer_free(&words);
    }
}

/* Escapes what roff would take for a request; LF LF starts a paragraph. A list of choices may be
 * broken after any bar. */
static void man_text(rela_composer *t, const char *words)
{
    bool start = true;
    for (; *words; words++) {
        if (start && *words == '\n') {
            rela_compose(t, ".PP\n");
            continue;
        }
        if (start && (*words == '.' || *words == '\''))
            rela_compose(t, "\\&");
        if (*words == '\\')
            rela_compose(t, "\\e");
        else
            rela_compose(t, "%s%c%s", *words == '-' ? "\\" : "", *words,
                         *words == '|' ? "\\:" : "");
        start = *words == '\n';
    }
    if (!start)
        rela_compose(t, "\n");
}
