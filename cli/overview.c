/* SPDX-License-Identifier: MIT */
/* cli/overview.c - the commands by task, in the order of use. */
#include "cli.h"

#include <string.h>

/* Commands that are in no row come last. */
static const struct task {
    const char *title, *commands;
} TASKS[] = {
    { "Start", "demo" },
    { "Data", "corpus|corpus check|filter" },
    { "Text and subwords",
      "normalise|tokenise|detokenise|truecase learn|truecase|truecase apply|truecase undo|split|"
      "bpe learn|bpe apply|bpe undo|bpe restore|vocab" },
    { "Models", "train|average|info|convert" },
    { "Translation", "translate|score|shortlist|serve" },
    { "Attention and word alignment", "align|aer|symmetrise|analyse|view" },
    { "Evaluation", "bleu|chrf|compare" },
    { "Speed", "bench" },
    { "Experiments",
      "study plan|study run|study status|study why|study report|study verify|study adopt|"
      "study choose|study statistics|study excerpt|study noise" },
};
enum { N_TASKS = sizeof TASKS / sizeof TASKS[0] };

/* The row of TASKS with the command, and its place in it; N_TASKS if there is none. */
static size_t task_of(const rela_command *c, size_t *place)
{
    const size_t len = strlen(c->name);
    for (size_t i = 0; i < N_TASKS; i++) {
        const char *at = TASKS[i].commands;
        for (*place = 0; *at; at += strcspn(at, "|"), at += *at == '|', ++*place)
            if (strcspn(at, "|") == len && strncmp(at, c->name, len) == 0)
                return i;
    }
    return N_TASKS;
}

static bool comes_before(const rela_command *a, const rela_command *b)
{
    size_t at_a = 0, at_b = 0;
    const size_t a_task = task_of(a, &at_a), b_task = task_of(b, &at_b);
    return a_task < b_task || (a_task == b_task && at_a < at_b);
}

void rela_cli_sort_by_task(const rela_command **commands, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && comes_before(commands[k], commands[k - 1]); k--) {
            const rela_command *c = commands[k];
            commands[k] = commands[k - 1];
            commands[k - 1] = c;
        }
}

rela_status rela_cli_overview(rela_buffer *out, const rela_command *const *commands, size_t n,
                              rela_error *err)
{
    rela_status st = rela_buffer_append_text(
        out,
        "rela - neural machine translation with rectified linear attention\n\n"
        "usage: rela COMMAND [OPTION...] [ARGUMENT...]\n",
        err);
    for (size_t i = 0, last = SIZE_MAX, place; i < n && st == RELA_OK; i++) {
        const size_t task = task_of(commands[i], &place);
        if (task != last)
            st = rela_buffer_printf(out, err, "\n%s:\n",
                                    task < N_TASKS ? TASKS[task].title : "More");
        last = task;
        if (st == RELA_OK)
            st = rela_buffer_printf(out, err, "  %-17s %s\n", commands[i]->name,
                                    commands[i]->summary);
    }
    return st ? st
              : rela_buffer_append_text(
                    out,
                    "\n'rela COMMAND --help' explains a command. 'rela help man COMMAND' prints "
                    "its\n"
                    "manual page, 'rela help completion bash|zsh|fish' completions for a shell.\n",
                    err);
}
