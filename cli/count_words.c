/* SPDX-License-Identifier: MIT */
/* cli/count_words.c - see count_words.h. */
#include "count_words.h"

/* Very long words, or many long ones, suggest text without spaces between words. */
enum { VERY_LONG = 1000, LONG_SHARE = 1000, CHARACTER_MAX = 4 /* bytes */ };

static void note_oddities(rela_cli *cli, const rela_word_stats *s);

rela_status rela_cli_count_words(rela_cli *cli, rela_word_counts *counts, bool dictionary,
                                 rela_error *err)
{
    const size_t n = cli->operands.n ? cli->operands.n : 1;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        const char *path = cli->operands.n ? cli->operands.items[i] : "-";
        st = dictionary ? rela_word_counts_add_dictionary(counts, path, RELA_DUPLICATES_SUM, err)
                        : rela_word_counts_add_file(counts, path, (int)cli->common.threads, err);
    }
    if (st != RELA_OK)
        return st;
    rela_word_stats stats = { .struct_size = sizeof stats };
    st = rela_word_counts_stats_get(&stats, counts, err);
    if (st == RELA_OK)
        note_oddities(cli, &stats);
    return st;
}

static void note_oddities(rela_cli *cli, const rela_word_stats *s)
{
    if (s->n_words == 0)
        rela_log_line(&cli->sink, RELA_LOG_WARNING, "the input has no words");
    if (s->n_bad)
        rela_log_line(&cli->sink, RELA_LOG_WARNING,
                      "%llu of %llu line%s %s left out; the first is line %llu",
                      (unsigned long long)s->n_bad, (unsigned long long)s->n_lines,
                      s->n_lines == 1 ? "" : "s",
                      s->n_bad == 1 ? "is not UTF-8 and was" : "are not UTF-8 and were",
                      (unsigned long long)s->bad_line);
    if (s->longest > VERY_LONG || s->n_long > s->n_words / LONG_SHARE)
        rela_log_line(&cli->sink, RELA_LOG_WARNING,
                      "%llu word%s more than %d characters, the longest %llu (line %llu); "
                      "is there a blank between words?",
                      (unsigned long long)s->n_long, s->n_long == 1 ? " has" : "s have",
                      RELA_WORD_LONG, (unsigned long long)s->longest,
                      (unsigned long long)s->longest_line);
    if (s->longest > RELA_WORD_MAX / CHARACTER_MAX)
        rela_log_line(&cli->sink, RELA_LOG_WARNING, "words over %d bytes were not counted",
                      RELA_WORD_MAX);
}
