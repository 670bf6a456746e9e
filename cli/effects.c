/* SPDX-License-Identifier: MIT */
/* cli/effects.c - warnings about options without effect, from the dependencies of a command. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

enum { TERM_MAX = 64, TERMS_MAX = 256 };

/* One of the terms separated by | in a dependency: OPTION, OPTION=VALUE, OPERAND or OPERAND=VALUE.
 */
typedef struct term {
    char name[TERM_MAX], value[TERM_MAX]; /* value empty: any */
    bool operand;
} term;

const char *const RELA_CLI_NO_FIGURES[] = { "json", "", "seed", "", NULL };

/* Takes the first term of *at and moves *at past it. */
static term take_term(const char **at)
{
    term t;
    const size_t n = strcspn(*at, "|"), name = strcspn(*at, "=|");
    (void)snprintf(t.name, sizeof t.name, "%.*s", (int)name, *at);
    (void)snprintf(t.value, sizeof t.value, "%.*s", name < n ? (int)(n - name) - 1 : 0,
                   *at + name + (name < n));
    *at += n + ((*at)[n] == '|');
    t.operand = t.name[0] >= 'A' && t.name[0] <= 'Z';
    return t;
}

static bool holds(const rela_cli *cli, const term *t)
{
    if (t->operand) {
        bool found = false;
        for (size_t i = 0; i < cli->operands.n; i++)
            found = found || !*t->value || strcmp(cli->operands.items[i], t->value) == 0;
        return found;
    }
    if (!*t->value)
        return rela_options_given(cli->state, t->name);
    const char *text = rela_options_text(cli->state, t->name);
    return text && strcmp(text, t->value) == 0;
}

static bool find_held(term *found, const rela_cli *cli, const char *terms)
{
    while (*terms) {
        *found = take_term(&terms);
        if (holds(cli, found))
            return true;
    }
    return false;
}

/* Appends "--by null", or "'scale'" for an operand. Cut if there is no room. */
static void append_term(char *out, size_t size, const term *t, const char *lead)
{
    const size_t used = strlen(out);
    if (t->operand)
        (void)snprintf(out + used, size - used, *t->value ? "%s'%s'" : "%s%s", lead,
                       *t->value ? t->value : t->name);
    else
        (void)snprintf(out + used, size - used, "%s--%s%s%s", lead, t->name, *t->value ? " " : "",
                       t->value);
}

static void warn(rela_cli *cli, const char *option, const char *what, const char *which)
{
    rela_log_line(&cli->sink, RELA_LOG_WARNING, "--%s has no effect %s %s", option, what, which);
}

static void check(rela_cli *cli, const char *option, const char *terms)
{
    char list[TERMS_MAX] = "";
    term found;
    if (!*terms) {
        (void)snprintf(list, sizeof list, "'rela %s'", cli->command->name);
        warn(cli, option, "with", list);
        return;
    }
    if (*terms == '!') {
        if (!find_held(&found, cli, terms + 1))
            return;
        append_term(list, sizeof list, &found, "");
        warn(cli, option, "with", list);
        return;
    }
    if (find_held(&found, cli, terms))
        return;
    for (const char *at = terms; *at;) {
        const char *lead = *list ? ", " : "";
        found = take_term(&at);
        append_term(list, sizeof list, &found, *list && !*at ? " or " : lead);
    }
    warn(cli, option, "without", list);
}

void rela_cli_check_effect(rela_cli *cli, const char *const *needs)
{
    for (; needs && needs[0]; needs += 2)
        if (rela_options_typed(cli->state, needs[0]))
            check(cli, needs[0], needs[1]);
}
