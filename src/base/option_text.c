/* SPDX-License-Identifier: MIT */
/* src/base/option_text.c - help, manual pages and shell completions from the tables of option.h. */
#include "base/option.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

enum { HELP_COLUMN = 28, HELP_WIDTH = 100, ROW_MAX = 256, FLOW_MAX = 1024 };

static rela_status help_rows(rela_buffer *out, const rela_option *o, rela_error *err);
static rela_status help_row(rela_buffer *out, const rela_option *o, rela_error *err);
static rela_status flow(rela_buffer *out, const char *text, size_t column, size_t indent,
                        rela_error *err);
static void note(char *out, size_t size, const rela_option *o);
static rela_status man_rows(rela_buffer *out, const rela_option *o, rela_error *err);
static rela_status man_text(rela_buffer *out, const char *text, rela_error *err);
static rela_status bash_completion(rela_buffer *out, rela_command_list commands,
                                   const rela_option *common, rela_error *err);
static rela_status zsh_completion(rela_buffer *out, rela_command_list commands,
                                  const rela_option *common, rela_error *err);
static rela_status fish_completion(rela_buffer *out, rela_command_list commands,
                                   const rela_option *common, rela_error *err);

/* Calls that append all end in err; the first failure stops a text. */
#define PUT(...)                                                                                   \
    do {                                                                                           \
        const rela_status put_status = rela_buffer_printf(out, err, __VA_ARGS__);                  \
        if (put_status != RELA_OK)                                                                 \
            return put_status;                                                                     \
    } while (0)
#define DO(call)                                                                                   \
    do {                                                                                           \
        const rela_status do_status = (call);                                                      \
        if (do_status != RELA_OK)                                                                  \
            return do_status;                                                                      \
    } while (0)

rela_status rela_options_help(rela_buffer *out, const rela_command *c, const rela_option *common,
                              rela_error *err)
{
    PUT("usage: rela %s [OPTION...]%s%s\n\n", c->name, *c->operands ? " " : "", c->operands);
    DO(flow(out, c->description ? c->description : c->summary, 0, 0, err));
    PUT("\n");
    if (c->options && c->options->name) {
        PUT("Options:\n");
        DO(help_rows(out, c->options, err));
        PUT("\n");
    }
    PUT("Options of every command:\n");
    DO(help_rows(out, common, err));
    if (c->examples)
        PUT("\nExamples:\n%s", c->examples);
    return RELA_OK;
}

rela_status rela_options_man(rela_buffer *out, const rela_command *c, const rela_option *common,
                             rela_error *err)
{
    char page[ROW_MAX];
    (void)snprintf(page, sizeof page, "rela-%s", c->name);
    for (char *p = page; *p; p++)
        *p = *p == ' ' ? '-' : *p;
    PUT(".TH \"%s\" 1 \"\" \"rela %d.%d.%d\" \"rela manual\"\n", page, RELA_VERSION_MAJOR,
        RELA_VERSION_MINOR, RELA_VERSION_PATCH);
    PUT(".SH NAME\n%s \\- %s\n", page, c->summary);
    PUT(".SH SYNOPSIS\n.B rela %s\n[OPTION...] %s\n.SH DESCRIPTION\n", c->name, c->operands);
    DO(man_text(out, c->description ? c->description : c->summary, err));
    PUT(".SH OPTIONS\n");
    if (c->options)
        DO(man_rows(out, c->options, err));
    PUT(".SS Options of every command\n");
    DO(man_rows(out, common, err));
    if (c->examples) {
        PUT(".SH EXAMPLES\n.nf\n");
        DO(man_text(out, c->examples, err));
        PUT(".fi\n");
    }
    PUT(".SH EXIT STATUS\n0 success, 1 run-time error, 2 usage error, 3 bad data, 128+n after a "
        "stop "
        "by signal n.\n.SH SEE ALSO\n.BR rela (1)\n");
    return RELA_OK;
}

rela_status rela_options_completion(rela_buffer *out, const char *shell, rela_command_list commands,
                                    const rela_option *common, rela_error *err)
{
    if (strcmp(shell, "bash") == 0)
        return bash_completion(out, commands, common, err);
    if (strcmp(shell, "zsh") == 0)
        return zsh_completion(out, commands, common, err);
    if (strcmp(shell, "fish") == 0)
        return fish_completion(out, commands, common, err);
    return rela_fail(err, RELA_ARG, "no completions for shell '%s'; expected bash, zsh or fish",
                     shell);
}

static rela_status help_rows(rela_buffer *out, const rela_option *o, rela_error *err)
{
    for (; o->name; o++)
        DO(help_row(out, o, err));
    return RELA_OK;
}

static rela_status help_row(rela_buffer *out, const rela_option *o, rela_error *err)
{
    char left[ROW_MAX], right[FLOW_MAX], extra[ROW_MAX];
    char letter[8] = "    ";
    if (o->letter)
        (void)snprintf(letter, sizeof letter, "-%c, ", o->letter);
    const bool is_choice = o->type == RELA_OPTION_CHOICE;
    (void)snprintf(left, sizeof left, "  %s--%s%s%s", letter, o->name, o->value ? " " : "",
                   !o->value   ? ""
                   : is_choice ? "WORD"
                               : o->value);
    note(extra, sizeof extra, o);
    (void)snprintf(right, sizeof right, "%s%s", o->help, extra);
    PUT("%s", left);
    size_t column = strlen(left);
    if (column + 2 > HELP_COLUMN) {
        PUT("\n");
        column = 0;
    }
    PUT("%*s", (int)(HELP_COLUMN - column), "");
    return flow(out, right, HELP_COLUMN, HELP_COLUMN, err);
}

/* Breaks text into lines of HELP_WIDTH; LF in it starts a new line. */
static rela_status flow(rela_buffer *out, const char *text, size_t column, size_t indent,
                        rela_error *err)
{
    while (*text) {
        const size_t word = strcspn(text, " \n");
        if (column > indent && column + 1 + word > HELP_WIDTH) {
            PUT("\n%*s", (int)indent, "");
            column = indent;
        }
        if (column > indent && word) {
            PUT(" ");
            column++;
        }
        PUT("%.*s", (int)word, text);
        column += word;
        text += word;
        if (*text == '\n') {
            PUT("\n%*s", text[1] && text[1] != '\n' ? (int)indent : 0, "");
            column = indent;
        }
        text += *text != '\0';
    }
    PUT("\n");
    return RELA_OK;
}

/* Default and range, in brackets. */
static void note(char *out, size_t size, const rela_option *o)
{
    char range[ROW_MAX] = "";
    const bool number = o->type == RELA_OPTION_INT || o->type == RELA_OPTION_REAL;
    if (number && o->max < 1e15)
        (void)snprintf(range, sizeof range, "%.15g..%.15g", o->min, o->max);
    else if (number)
        (void)snprintf(range, sizeof range, "from %.15g", o->min);
    else if (o->type == RELA_OPTION_CHOICE)
        (void)snprintf(range, sizeof range, "%s", o->value);
    const bool has_default = o->initial && *o->initial && strcmp(o->initial, "false") != 0;
    if (*range && has_default)
        (void)snprintf(out, size, " [%s; default %s]", range, o->initial);
    else if (*range)
        (void)snprintf(out, size, " [%s]", range);
    else if (has_default)
        (void)snprintf(out, size, " [default %s]", o->initial);
    else
        out[0] = '\0';
}

static rela_status man_rows(rela_buffer *out, const rela_option *o, rela_error *err)
{
    for (; o->name; o++) {
        char extra[ROW_MAX];
        note(extra, sizeof extra, o);
        PUT(".TP\n");
        if (o->letter)
            PUT("\\fB\\-%c\\fR, ", o->letter);
        PUT("\\fB\\-\\-");
        for (const char *p = o->name; *p; p++)
            PUT(*p == '-' ? "\\-" : "%c", *p);
        PUT("\\fR");
        if (o->value)
            PUT(" \\fI%s\\fR", o->type == RELA_OPTION_CHOICE ? "WORD" : o->value);
        PUT("\n");
        DO(man_text(out, o->help, err));
        if (*extra)
            DO(man_text(out, extra + 1, err));
    }
    return RELA_OK;
}

/* Escapes what roff would take as a request; LF LF starts a paragraph. */
static rela_status man_text(rela_buffer *out, const char *text, rela_error *err)
{
    bool start = true;
    for (; *text; text++) {
        if (start && *text == '\n') {
            PUT(".PP\n");
            continue;
        }
        if (start && (*text == '.' || *text == '\''))
            PUT("\\&");
        if (*text == '\\')
            PUT("\\e");
        else if (*text == '-')
            PUT("\\-");
        else
            DO(rela_buffer_append_char(out, *text, err));
        start = *text == '\n';
    }
    if (!start)
        PUT("\n");
    return RELA_OK;
}

static rela_status bash_words(rela_buffer *out, const rela_option *o, rela_error *err)
{
    for (; o && o->name; o++)
        PUT("--%s ", o->name);
    return RELA_OK;
}

static rela_status bash_completion(rela_buffer *out, rela_command_list commands,
                                   const rela_option *common, rela_error *err)
{
    PUT("# bash completion for rela; made from its option tables.\n_rela() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} first=${COMP_WORDS[1]} options=\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < commands.n; i++) /* two-word commands share their first word */
        PUT("%.*s ", (int)strcspn(commands.items[i]->name, " "), commands.items[i]->name);
    PUT("' -- \"$word\"))\n        return\n    fi\n");
    for (size_t i = 0; i < commands.n; i++) {
        const char *space = strchr(commands.items[i]->name, ' ');
        if (space)
            PUT("    [ \"$COMP_CWORD\" -eq 2 ] && [ \"$first\" = %.*s ] && options+='%s '\n",
                (int)(space - commands.items[i]->name), commands.items[i]->name, space + 1);
    }
    PUT("    case \"$first ${COMP_WORDS[2]}\" in\n");
    for (int two_words = 1; two_words >= 0; two_words--)
        for (size_t i = 0; i < commands.n; i++) {
            const rela_command *c = commands.items[i];
            if ((strchr(c->name, ' ') != NULL) != two_words)
                continue;
            PUT("    '%s%s) options+='", c->name, two_words ? "'" : " '*");
            DO(bash_words(out, c->options, err));
            DO(bash_words(out, common, err));
            PUT("' ;;\n");
        }
    PUT("    esac\n    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
        "    [ \"${word#-}\" = \"$word\" ] && COMPREPLY+=($(compgen -f -- \"$word\"))\n}\n"
        "complete -o filenames -F _rela rela\n");
    return RELA_OK;
}

/* Help texts inside single quotes of a shell. */
static rela_status quoted(rela_buffer *out, const char *text, const char *escape, rela_error *err)
{
    for (; *text; text++) {
        if (*text == '\'')
            PUT("'\\''");
        else if (strchr(escape, *text))
            PUT("\\%c", *text);
        else
            DO(rela_buffer_append_char(out, *text, err));
    }
    return RELA_OK;
}

static rela_status zsh_rows(rela_buffer *out, const rela_option *o, rela_error *err)
{
    for (; o && o->name; o++) {
        PUT(" \\\n            '--%s[", o->name);
        DO(quoted(out, o->help, "[]:", err));
        PUT("]");
        if (o->type == RELA_OPTION_CHOICE) {
            PUT(":word:(");
            for (const char *p = o->value; *p; p++)
                PUT("%c", *p == '|' ? ' ' : *p);
            PUT(")");
        } else if (o->type != RELA_OPTION_FLAG) {
            PUT(":%s:_files", o->value ? o->value : "value");
        }
        PUT("'");
    }
    return RELA_OK;
}

static rela_status zsh_completion(rela_buffer *out, rela_command_list commands,
                                  const rela_option *common, rela_error *err)
{
    PUT("#compdef rela\n# zsh completion for rela; made from its option tables.\n"
        "_rela() {\n    if (( CURRENT == 2 )); then\n        local -a commands=(");
    for (size_t i = 0; i < commands.n; i++) {
        PUT("\n            '%.*s:", (int)strcspn(commands.items[i]->name, " "),
            commands.items[i]->name);
        DO(quoted(out, commands.items[i]->summary, ":", err));
        PUT("'");
    }
    PUT(")\n        _describe command commands\n        return\n    fi\n"
        "    case \"$words[2] $words[3]\" in\n");
    for (int two_words = 1; two_words >= 0; two_words--)
        for (size_t i = 0; i < commands.n; i++) {
            const rela_command *c = commands.items[i];
            if ((strchr(c->name, ' ') != NULL) != two_words)
                continue;
            PUT("    '%s%s)\n        _arguments", c->name, two_words ? "'" : " '*");
            DO(zsh_rows(out, c->options, err));
            DO(zsh_rows(out, common, err));
            PUT(" \\\n            '*:file:_files' ;;\n");
        }
    PUT("    esac\n}\n_rela \"$@\"\n");
    return RELA_OK;
}

static rela_status fish_rows(rela_buffer *out, const char *command, const rela_option *o,
                             rela_error *err)
{
    for (; o && o->name; o++) {
        PUT("complete -c rela -n '__fish_seen_subcommand_from %.*s' -l %s",
            (int)strcspn(command, " "), command, o->name);
        if (o->letter)
            PUT(" -s %c", o->letter);
        if (o->type != RELA_OPTION_FLAG)
            PUT(" -r");
        if (o->type == RELA_OPTION_CHOICE) {
            PUT(" -f -a '");
            for (const char *p = o->value; *p; p++)
                PUT("%c", *p == '|' ? ' ' : *p);
            PUT("'");
        }
        PUT(" -d '");
        DO(quoted(out, o->help, "\\", err));
        PUT("'\n");
    }
    return RELA_OK;
}

static rela_status fish_completion(rela_buffer *out, rela_command_list commands,
                                   const rela_option *common, rela_error *err)
{
    PUT("# fish completion for rela; made from its option tables.\n");
    for (size_t i = 0; i < commands.n; i++) {
        const rela_command *c = commands.items[i];
        const char *space = strchr(c->name, ' ');
        PUT("complete -c rela -n __fish_use_subcommand -a '%.*s' -d '", (int)strcspn(c->name, " "),
            c->name);
        DO(quoted(out, c->summary, "\\", err));
        PUT("'\n");
        if (space)
            PUT("complete -c rela -n '__fish_seen_subcommand_from %.*s' -a '%s'\n",
                (int)(space - c->name), c->name, space + 1);
        DO(fish_rows(out, c->name, c->options, err));
        DO(fish_rows(out, c->name, common, err));
    }
    return RELA_OK;
}
