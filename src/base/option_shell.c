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

/* Appends the first words of all commands, with a blank after each. */
static void put_firsts(rela_composer *t, rela_command_list commands)
{
    for (size_t i = 0; i < commands.n; i++)
        if (!is_repeated(commands, i))
            rela_compose(t, "%.*s ", first_word(commands.items[i]), commands.items[i]->name);
}

/* Appends the second words that follow the first word of command i, with a blank before each. False
 * if there are none. */
static bool put_seconds(rela_composer *t, rela_command_list commands, size_t i)
{
    const char *name = commands.items[i]->name;
    const int n = first_word(commands.items[i]);
    bool any = false;
    for (size_t j = 0; j < commands.n; j++) {
        const rela_command *c = commands.items[j];
        if (!second_word(c) || first_word(c) != n || strncmp(c->name, name, (size_t)n) != 0)
            continue;
        rela_compose(t, " %s", second_word(c));
        any = true;
    }
    return any;
}

/* One line of a case per first word with second words: lead, the word, middle, the words, tail. */
static void put_second_cases(rela_composer *t, rela_command_list commands, const char *lead,
                             const char *middle, const char *tail)
{
    for (size_t i = 0; i < commands.n; i++) {
        rela_buffer words = RELA_BUFFER_INIT;
        rela_composer seconds = { &words, t->err, t->status };
        if (!is_repeated(commands, i) && put_seconds(&seconds, commands, i) &&
            seconds.status == RELA_OK)
            rela_compose(t, "%s%.*s%s%s%s", lead, first_word(commands.items[i]),
                         commands.items[i]->name, middle, words.data + 1, tail);
        t->status = seconds.status == RELA_OK ? t->status : seconds.status;
        rela_buffer_free(&words);
    }
}

/* What "rela help" takes before a command. */
#define HELP_WORDS  "man completion commands"
#define SHELL_WORDS "bash zsh fish"

/* Whether the operands are given words: "[train|translate]". */
static bool has_operand_words(const rela_command *c)
{
    const size_t len = strlen(c->operands);
    return len > 2 && c->operands[0] == '[' &&
           strspn(c->operands + 1, "abcdefghijklmnopqrstuvwxyz|") == len - 2;
}

static void put_operand_words(rela_composer *t, const rela_command *c)
{
    for (const char *p = c->operands + 1; *p != ']'; p++)
        rela_compose(t, "%c", *p == '|' ? ' ' : *p);
}

static bool takes_files(const rela_command *c)
{
    return c->max_operands > 0 && !has_operand_words(c);
}

/* Whether --no-name is worth offering. */
static bool is_on(const rela_option *o)
{
    return o->type == RELA_OPTION_FLAG && o->initial && strcmp(o->initial, "true") == 0;
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
    { "gnmt:A|power:A|none", "gnmt:0.6 power:0.6 none", NULL },
    { "full|top:K|nucleus:P", "full top:10 nucleus:0.9", NULL },
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
        rela_compose(t, is_on(o) ? "--%s --no-%s " : "--%s ", o->name, o->name);
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
    rela_compose(t, "'");
    if (takes_files(c))
        rela_compose(t, " files=yes");
    if (has_operand_words(c)) {
        rela_compose(t, "\n        options+='");
        put_operand_words(t, c);
        rela_compose(t, "'");
    }
    rela_compose(t, "\n        case $previous in\n");
    bash_values(t, c->options);
    bash_values(t, common);
    rela_compose(t, "        esac");
}

/* bash cuts words at '=', so that --name=value is three. */
static void bash_completion(rela_composer *t, rela_command_list commands, const rela_option *common)
{
    rela_compose(t, "# bash completion for rela; made from its option tables.\n_rela() {\n"
                    "    local word=${COMP_WORDS[COMP_CWORD]} first=${COMP_WORDS[1]} options=\n"
                    "    local previous=${COMP_WORDS[COMP_CWORD-1]} kind= values= files=\n"
                    "    local commands='");
    put_firsts(t, commands);
    rela_compose(t, "'\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                    "        COMPREPLY=($(compgen -W \"$commands help --help --version\" -- "
                    "\"$word\"))\n        return\n    fi\n"
                    "    if [ \"$first\" = help ]; then\n"
                    "        case $COMP_CWORD-$previous in\n"
                    "        2-*) values=\"" HELP_WORDS " $commands\" ;;\n"
                    "        3-man) values=$commands ;;\n"
                    "        3-completion) values='" SHELL_WORDS "' ;;\n");
    put_second_cases(t, commands, "        [34]-", ") values='", "' ;;\n");
    rela_compose(t, "        esac\n"
                    "        COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
                    "        return\n    fi\n"
                    "    if [ \"$previous\" = = ]; then\n"
                    "        previous=${COMP_WORDS[COMP_CWORD-2]}\n"
                    "    elif [ \"$word\" = = ]; then\n        word=\n    fi\n"
                    "    case $COMP_CWORD-$first in\n");
    put_second_cases(t, commands, "    2-", ") options='", " ' ;;\n");
    rela_compose(t, "    esac\n    case \"$first ${COMP_WORDS[2]}\" in\n");
    put_branches(t, commands, common, bash_branch);
    rela_compose(t, "    esac\n    case $kind in\n"
                    "    words) COMPREPLY=($(compgen -W \"$values\" -- \"$word\")) && return ;;\n"
                    "    file) COMPREPLY=($(compgen -f -- \"$word\")) && return ;;\n"
                    "    directory) COMPREPLY=($(compgen -d -- \"$word\")) && return ;;\n    esac\n"
                    "    [ -z \"$kind\" ] || return\n"
                    "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                    "    [ -n \"$files\" ] && [ \"${word#-}\" = \"$word\" ] &&\n"
                    "        COMPREPLY+=($(compgen -f -- \"$word\"))\n}\n"
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

/* One spelling of an option: a value may follow the letter at once, the name after '='. Another
 * spelling of the same is not offered any more, unless it may be repeated. */
static void zsh_spelling(rela_composer *t, const rela_option *o, bool letter)
{
    const bool many = o->type == RELA_OPTION_LIST || o->type == RELA_OPTION_FILES;
    rela_compose(t, " \\\n            '%s", many ? "*" : "");
    if (!many && o->letter && letter)
        rela_compose(t, "(--%s)", o->name);
    else if (!many && o->letter)
        rela_compose(t, "(-%c)", o->letter);
    if (letter)
        rela_compose(t, "-%c%s[", o->letter, o->type == RELA_OPTION_FLAG ? "" : "+");
    else
        rela_compose(t, "--%s%s[", o->name, o->type == RELA_OPTION_FLAG ? "" : "=");
    put_quoted(t, o->help, "[]:");
    rela_compose(t, "]");
    zsh_value(t, o);
    rela_compose(t, "'");
}

static void zsh_rows(rela_composer *t, const rela_option *o)
{
    for (; o && o->name; o++) {
        if (o->letter)
            zsh_spelling(t, o, true);
        zsh_spelling(t, o, false);
        if (is_on(o))
            rela_compose(t, " \\\n            '--no-%s[turn off --%s]'", o->name, o->name);
    }
}

static void zsh_branch(rela_composer *t, const rela_command *c, const rela_option *common)
{
    rela_compose(t, "\n        _arguments");
    zsh_rows(t, c->options);
    zsh_rows(t, common);
    if (has_operand_words(c)) {
        rela_compose(t, " \\\n            '*:word:(");
        put_operand_words(t, c);
        rela_compose(t, ")'");
    } else { /* without operands too, as the command itself is one */
        rela_compose(t, " \\\n            '*:%s'", takes_files(c) ? "file:_files" : "word:");
    }
}

static void zsh_completion(rela_composer *t, rela_command_list commands, const rela_option *common)
{
    rela_compose(t, "#compdef rela\n# zsh completion for rela; made from its option tables.\n"
                    "_rela() {\n    local -a commands=(");
    for (size_t i = 0; i < commands.n; i++) {
        const rela_command *c = commands.items[i];
        if (is_repeated(commands, i))
            continue;
        rela_compose(t, "\n            '%.*s:", first_word(c), c->name);
        put_quoted(t, c->summary, ":");
        rela_compose(t, "'");
    }
    rela_compose(t, ")\n    if (( CURRENT == 2 )); then\n"
                    "        _describe command commands\n"
                    "        compadd help -- --help --version\n        return\n    fi\n"
                    "    if [[ $words[2] == help ]]; then\n"
                    "        case $CURRENT-$words[CURRENT-1] in\n"
                    "        3-*) compadd " HELP_WORDS "; _describe command commands ;;\n"
                    "        4-man) _describe command commands ;;\n"
                    "        4-completion) compadd " SHELL_WORDS " ;;\n");
    put_second_cases(t, commands, "        [45]-", ") compadd ", " ;;\n");
    rela_compose(t, "        esac\n        return\n    fi\n"
                    "    case $CURRENT-$words[2] in\n");
    put_second_cases(t, commands, "    3-", ") compadd ", " ;;\n");
    rela_compose(t, "    esac\n    case \"$words[2] $words[3]\" in\n");
    put_branches(t, commands, common, zsh_branch);
    rela_compose(t, "    esac\n}\n_rela \"$@\"\n");
}

/* The condition that this command was given; a command of one word must not be one of two. */
static void fish_condition(rela_composer *t, rela_command_list commands, size_t i)
{
    const rela_command *c = commands.items[i];
    const size_t len = strlen(c->name);
    rela_compose(t, "complete -c rela -n '__rela_in %s", c->name);
    for (size_t j = 0; j < commands.n && !second_word(c); j++)
        if (strncmp(commands.items[j]->name, c->name, len) == 0 &&
            commands.items[j]->name[len] == ' ')
            rela_compose(t, "; and not __rela_in %s", commands.items[j]->name);
    rela_compose(t, "'");
}

static void fish_row(rela_composer *t, const rela_option *o)
{
    rela_compose(t, " -l %s", o->name);
    if (o->letter)
        rela_compose(t, " -s %c", o->letter);
    if (o->type == RELA_OPTION_DIR) {
        rela_compose(t, " -r -f -a '(__fish_complete_directories)'");
    } else if (o->type == RELA_OPTION_CHOICE || known_words(o)) {
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

static void fish_rows(rela_composer *t, rela_command_list commands, size_t i, const rela_option *o)
{
    for (; o && o->name; o++) {
        fish_condition(t, commands, i);
        fish_row(t, o);
        if (!is_on(o))
            continue;
        fish_condition(t, commands, i);
        rela_compose(t, " -l no-%s -d 'turn off --%s'\n", o->name, o->name);
    }
}

/* The second word of a command, with files where the first is a command that takes them. */
static void fish_second(rela_composer *t, rela_command_list commands, const rela_command *c)
{
    static const char *const LEADS[] = { "", "help ", "help man " };
    const int n = first_word(c);
    bool files = false;
    for (size_t i = 0; i < commands.n; i++)
        files = files || (!second_word(commands.items[i]) && first_word(commands.items[i]) == n &&
                          strncmp(commands.items[i]->name, c->name, (size_t)n) == 0 &&
                          takes_files(commands.items[i]));
    for (size_t k = 0; k < sizeof LEADS / sizeof LEADS[0] && second_word(c); k++)
        rela_compose(t, "complete -c rela -n '__rela_at %s%.*s'%s -a '%s'\n", LEADS[k], n, c->name,
                     k == 0 && files ? "" : " -f", second_word(c));
}

/* What does not depend on options: commands, their second words, and help. */
static void fish_words(rela_composer *t, rela_command_list commands)
{
    static const char *const HELPED[] = { "__rela_at", "__rela_at help", "__rela_at help man" };
    rela_compose(t, "function __rela_in\n    set -l given (commandline -opc)\n"
                    "    set -e given[1]\n    set -l n (count $argv)\n"
                    "    test (count $given) -ge $n; and test \"$given[1..$n]\" = \"$argv\"\nend\n"
                    "function __rela_at\n    set -l given (commandline -opc)\n"
                    "    set -e given[1]\n    test \"$given\" = \"$argv\"\nend\n");
    for (size_t h = 0; h < sizeof HELPED / sizeof HELPED[0]; h++)
        for (size_t i = 0; i < commands.n; i++) {
            const rela_command *c = commands.items[i];
            if (is_repeated(commands, i))
                continue;
            rela_compose(t, "complete -c rela -n '%s' -f -a '%.*s' -d '", HELPED[h], first_word(c),
                         c->name);
            put_quoted(t, c->summary, "\\");
            rela_compose(t, "'\n");
        }
    rela_compose(t, "complete -c rela -n '__rela_at' -f -a help\n"
                    "complete -c rela -n '__rela_at' -l help\n"
                    "complete -c rela -n '__rela_at' -l version\n"
                    "complete -c rela -n '__rela_at help' -f -a '" HELP_WORDS "'\n"
                    "complete -c rela -n '__rela_at help completion' -f -a '" SHELL_WORDS "'\n"
                    "complete -c rela -n '__rela_in help' -f\n");
    for (size_t i = 0; i < commands.n; i++)
        fish_second(t, commands, commands.items[i]);
}

static void fish_completion(rela_composer *t, rela_command_list commands, const rela_option *common)
{
    rela_compose(t, "# fish completion for rela; made from its option tables.\n");
    fish_words(t, commands);
    for (size_t i = 0; i < commands.n; i++) {
        const rela_command *c = commands.items[i];
        fish_rows(t, commands, i, c->options);
        fish_rows(t, commands, i, common);
        if (takes_files(c))
            continue;
        fish_condition(t, commands, i);
        rela_compose(t, " -f");
        if (has_operand_words(c)) {
            rela_compose(t, " -a '");
            put_operand_words(t, c);
            rela_compose(t, "'");
        }
        rela_compose(t, "\n");
    }
}
