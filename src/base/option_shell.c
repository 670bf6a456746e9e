/* SPDX-License-Identifier: MIT */
/* src/base/option_shell.c - completions for bash, zsh and fish from the tables of option.h. */
#include "base/compose.h"
#include "base/option.h"

#include <string.h>

static void bash_completion(rela_composer *t, rela_command_list commands,
                            const rela_option *common);
static void zsh_completion(rela_composer *t, rela_command_list commands, const rela_option *common);
static void fish_completion(rela_composer *t, rela_command_list commands,
                            const rela_option *common);

typedef struct shell_row {
    const char *name;
    void (*write)(rela_composer *t, rela_command_list commands, const rela_option *common);
} shell_row;

static const shell_row SHELLS[] = {
    { "bash", bash_completion },
    { "zsh", zsh_completion },
    { "fish", fish_completion },
};

rela_status rela_options_completion(rela_buffer *out, const char *shell, rela_command_list commands,
                                    const rela_option *common, rela_error *err)
{
    rela_composer t = { out, err, RELA_OK };
    for (size_t i = 0; i < sizeof SHELLS / sizeof SHELLS[0]; i++)
        if (strcmp(shell, SHELLS[i].name) == 0) {
            SHELLS[i].write(&t, commands, common);
            return t.status;
        }
    return rela_fail(err, RELA_ARG, "no completions for shell '%s'; expected bash, zsh or fish",
                     shell);
}

/* Bytes of the first word of a command; the name is longer if it has a second word. */
static int first_word(const rela_command *c)
{
    return (int)strcspn(c->name, " ");
}

static const char *second_word(const rela_command *c)
{
    const char *space = strchr(c->name, ' ');
    return space ? space + 1 : NULL;
}

/* Commands of two words may share their first word: list it only once. */
static bool is_repeated(rela_command_list commands, size_t i)
{
    const int n = first_word(commands.items[i]);
    for (size_t j = 0; j < i; j++)
        if (first_word(commands.items[j]) == n &&
            strncmp(commands.items[j]->name, commands.items[i]->name, (size_t)n) == 0)
            return true;
    return false;
}

/* Appends text inside single quotes of a shell. */
static void put_quoted(rela_composer *t, const char *words, const char *escape)
{
    for (; *words; words++) {
        if (*words == '\'')
            rela_compose(t, "'\\''");
        else
            rela_compose(t, "%s%c", strchr(escape, *words) ? "\\" : "", *words);
    }
}

/* TEXT options whose values can be completed: the placeholder in help, and the values, or a command
 * that prints them. */
static const struct known {
    const char *value, *words, *command;
} KNOWN[] = {
    { "CODE", "cs de en es fr it nl pl pt ru sv", NULL },
    { "KIND", NULL, "rela info --attention 2>/dev/null | sed -n \"s/^\\([a-z][^ ]*\\) .*/\\1/p\"" },
};

/* The row for an option; NULL if it is not such an option. */
static const struct known *known_words(const rela_option *o)
{
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++)
        if (o->type == RELA_OPTION_TEXT && o->value && strcmp(o->value, KNOWN[i].value) == 0)
            return &KNOWN[i];
    return NULL;
}

/* Appends the values of a CHOICE or of an option in KNOWN, separated by blanks; a command is put in
 * $() or, for fish, in (). False if there are none. */
static bool put_words(rela_composer *t, const rela_option *o, const char *open)
{
    const struct known *known = known_words(o);
    if (known && known->command)
        rela_compose(t, "%s%s)", open, known->command);
    else if (known)
        rela_compose(t, "%s", known->words);
    for (const char *p = o->type == RELA_OPTION_CHOICE ? o->value : ""; *p; p++)
        rela_compose(t, "%c", *p == '|' ? ' ' : *p);
    return known || o->type == RELA_OPTION_CHOICE;
}

static bool is_file(const rela_option *o)
{
    return o->type == RELA_OPTION_FILE || o->type == RELA_OPTION_OUTPUT ||
           o->type == RELA_OPTION_FILES;
}

/* One branch per command, those of two words first, as a pattern of one word would hide them. */
static void put_branches(rela_composer *t, rela_command_list commands, const rela_option *common,
                         void (*put)(rela_composer *t, const rela_command *c,
                                     const rela_option *common))
{
    for (int n_words = 2; n_words > 0; n_words--)
        for (size_t i = 0; i < commands.n; i++) {
            const rela_command *c = commands.items[i];
            if ((second_word(c) ? 2 : 1) != n_words)
                continue;
            rela_compose(t, "    '%s%s)", c->name, n_words == 2 ? "'" : " '*");
            put(t, c, common);
            rela_compose(t, " ;;\n");
        }
}

static void bash_words(rela_composer *t, const rela_option *o)
{
    for (; o && o->name; o++)
        rela_compose(t, "--%s ", o->name);
}

/* What may follow an option: given values, file or directory names, or a number, which is not
 * completed. */
static void bash_values(rela_composer *t, const rela_option *o)
{
    for (; o && o->name; o++) {
        if (o->type == RELA_OPTION_FLAG)
            continue;
        rela_compose(t, "        --%s", o->name);
        if (o->letter)
            rela_compose(t, " | -%c", o->letter);
        if (is_file(o) || o->type == RELA_OPTION_DIR) {
            rela_compose(t, ") kind=%s ;;\n", is_file(o) ? "file" : "directory");
            continue;
        }
        rela_compose(t, ") kind=words values='");
        (void)put_words(t, o, "$(");
        rela_compose(t, "' ;;\n");
    }
}

static void bash_branch(rela_composer *t, const rela_command *c, const rela_option *common)
{
    rela_compose(t, "\n        options+='");
    bash_words(t, c->options);
    bash_words(t, common);
    rela_compose(t, "'\n        case $previous in\n");
    bash_values(t, c->options);
    bash_values(t, common);
    rela_compose(t, "        esac");
}

static void bash_completion(rela_composer *t, rela_command_list commands, const rela_option *common)
{
    rela_compose(t, "# bash completion for rela; made from its option tables.\n_rela() {\n"
                    "    local word=${COMP_WORDS[COMP_CWORD]} first=${COMP_WORDS[1]} options=\n"
                    "    local previous=${COMP_WORDS[COMP_CWORD-1]} kind= values=\n"
                    "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < commands.n; i++)
        if (!is_repeated(commands, i))
            rela_compose(t, "%.*s ", first_word(commands.items[i]), commands.items[i]->name);
    rela_compose(t, "' -- \"$word\"))\n        return\n    fi\n");
    for (size_t i = 0; i < commands.n; i++) {
        const rela_command *c = commands.items[i];
        if (second_word(c))
            rela_compose(
                t, "    [ \"$COMP_CWORD\" -eq 2 ] && [ \"$first\" = %.*s ] && options+='%s '\n",
                first_word(c), c->name, second_word(c));
    }
    rela_compose(t, "    case \"$first ${COMP_WORDS[2]}\" in\n");
    put_branches(t, commands, common, bash_branch);
    rela_compose(t,
                 "    esac\n    case $kind in\n"
                 "    words) COMPREPLY=($(compgen -W \"$values\" -- \"$word\")) && return ;;\n"
                 "    file) COMPREPLY=($(compgen -f -- \"$word\")) && return ;;\n"
                 "    directory) COMPREPLY=($(compgen -d -- \"$word\")) && return ;;\n    esac\n"
                 "    [ -z \"$kind\" ] || return\n"
                 "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                 "    [ \"${word#-}\" = \"$word\" ] && COMPREPLY+=($(compgen -f -- \"$word\"))\n}\n"
                 "complete -o filenames -F _rela rela\n");
}

static void zsh_value(rela_composer *t, const rela_option *o)
{
    if (o->type == RELA_OPTION_CHOICE || known_words(o)) {
        rela_compose(t, ":%s:{compadd ", o->type == RELA_OPTION_CHOICE ? "word" : o->value);
        (void)put_words(t, o, "$(");
        rela_compose(t, "}");
    } else if (o->type != RELA_OPTION_FLAG) {
        rela_compose(t, ":%s:%s", o->value ? o->value : "value",
                     is_file(o)                   ? "_files"
                     : o->type == RELA_OPTION_DIR ? "_files -/"
                                                  : "");
    }
}

static void zsh_rows(rela_composer *t, const rela_option *o)
{
    for (; o && o->name; o++) {
        rela_compose(t, " \\\n            '--%s[", o->name);
        put_quoted(t, o->help, "[]:");
        rela_compose(t, "]");
        zsh_value(t, o);
        rela_compose(t, "'");
    }
}

static void zsh_branch(rela_composer *t, const rela_command *c, const rela_option *common)
{
    rela_compose(t, "\n        _arguments");
    zsh_rows(t, c->options);
    zsh_rows(t, common);
    rela_compose(t, " \\\n            '*:file:_files'");
}

static void zsh_completion(rela_composer *t, rela_command_list commands, const rela_option *common)
{
    rela_compose(t, "#compdef rela\n# zsh completion for rela; made from its option tables.\n"
                    "_rela() {\n    if (( CURRENT == 2 )); then\n        local -a commands=(");
    for (size_t i = 0; i < commands.n; i++) {
        const rela_command *c = commands.items[i];
        if (is_repeated(commands, i))
            continue;
        rela_compose(t, "\n            '%.*s:", first_word(c), c->name);
        put_quoted(t, c->summary, ":");
        rela_compose(t, "'");
    }
    rela_compose(t, ")\n        _describe command commands\n        return\n    fi\n"
                    "    if (( CURRENT == 3 )); then\n        case $words[2] in\n");
    for (size_t i = 0; i < commands.n; i++) {
        const rela_command *c = commands.items[i];
        if (second_word(c))
            rela_compose(t, "        %.*s) compadd %s ;|\n", first_word(c), c->name,
                         second_word(c));
    }
    rela_compose(t, "        esac\n    fi\n    case \"$words[2] $words[3]\" in\n");
    put_branches(t, commands, common, zsh_branch);
    rela_compose(t, "    esac\n}\n_rela \"$@\"\n");
}

static void fish_rows(rela_composer *t, const rela_command *c, const rela_option *o)
{
    for (; o && o->name; o++) {
        rela_compose(t, "complete -c rela -n '__fish_seen_subcommand_from %.*s' -l %s",
                     first_word(c), c->name, o->name);
        if (o->letter)
            rela_compose(t, " -s %c", o->letter);
        if (o->type == RELA_OPTION_DIR)
            rela_compose(t, " -r -f -a '(__fish_complete_directories)'");
        else if (o->type == RELA_OPTION_CHOICE || known_words(o)) {
            rela_compose(t, " -x -a '");
            (void)put_words(t, o, "(");
            rela_compose(t, "'");
        } else if (o->type != RELA_OPTION_FLAG) {
            rela_compose(t, is_file(o) ? " -r -F" : " -x");
        }
        rela_compose(t, " -d '");
        put_quoted(t, o->help, "\\");
        rela_compose(t, "'\n");
    }
}

static void fish_completion(rela_composer *t, rela_command_list commands, const rela_option *common)
{
    rela_compose(t, "# fish completion for rela; made from its option tables.\n");
    for (size_t i = 0; i < commands.n; i++) {
        const rela_command *c = commands.items[i];
        const bool repeated = is_repeated(commands, i);
        if (!repeated) {
            rela_compose(t, "complete -c rela -n __fish_use_subcommand -a '%.*s' -d '",
                         first_word(c), c->name);
            put_quoted(t, c->summary, "\\");
            rela_compose(t, "'\n");
        }
        if (second_word(c))
            rela_compose(t, "complete -c rela -n '__fish_seen_subcommand_from %.*s' -a '%s'\n",
                         first_word(c), c->name, second_word(c));
        fish_rows(t, c, c->options);
        if (!repeated)
            fish_rows(t, c, common);
    }
}
