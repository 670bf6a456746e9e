/* SPDX-License-Identifier: MIT */
/* cli/count_words.c - see count_words.h. */
#include "count_words.h"

#include "base/encoding.h"

#include <string.h>

/* Very long words, or many long ones, suggest text without spaces between words. */
enum { VERY_LONG = 1000, LONG_SHARE = 1000, CHARACTER_MAX = 4 /* bytes */ };

static rela_status add_file(rela_cli *cli, rela_word_counts *counts, const char *path,
                            rela_error *err);
static void note_oddities(rela_cli *cli, const rela_word_stats *s);

rela_status rela_cli_count_words(rela_cli *cli, rela_word_counts *counts, bool dictionary,
                                 rela_error *err)
{
    const size_t n = cli->operands.n ? cli->operands.n : 1;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        const char *path = cli->operands.n ? cli->operands.items[i] : "-";
        rela_cli_typed_text(cli, &path, 1);
        st = dictionary ? rela_word_counts_add_dictionary(counts, path, RELA_DUPLICATES_SUM, err)
                        : add_file(cli, counts, path, err);
    }
    if (st != RELA_OK)
        return st;
    rela_word_stats stats = { .struct_size = sizeof stats };
    st = rela_word_counts_stats_get(&stats, counts, err);
    if (st == RELA_OK)
        note_oddities(cli, &stats);
    return st;
}

static rela_status add_file(rela_cli *cli, rela_word_counts *counts, const char *path,
                            rela_error *err)
{
    rela_word_stats before = { .struct_size = sizeof before }, after = before;
    rela_status st = rela_word_counts_stats_get(&before, counts, err);
    st = st ? st : rela_word_counts_add_file(counts, path, (int)cli->common.threads, err);
    st = st ? st : rela_word_counts_stats_get(&after, counts, err);
    if (st == RELA_OK && after.n_bad && !before.n_bad)
        rela_encoding_warn(&cli->sink, strcmp(path, "-") == 0 ? "standard input" : path,
                           after.bad_line - before.n_lines, after.bad_encoding);
    return st;
}

static void note_oddities(rela_cli *cli, const rela_word_stats *s)
{
    if (s->n_words == 0)
        rela_log_line(&cli->sink, RELA_LOG_WARNING, "the input has no words");
    if (s->n_bad)
        rela_log_line(&cli->sink, RELA_LOG_WARNING, "%llu of %llu line%s %s left out",
                      (unsigned long long)s->n_bad, (unsigned long long)s->n_lines,
                      s->n_lines == 1 ? "" : "s",
                      s->n_bad == 1 ? "is not UTF-8 and was" : "are not UTF-8 and were");
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
