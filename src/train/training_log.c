/* SPDX-License-Identifier: MIT */
/* src/train/training_log.c - see training_log.h. */
#include "train/training_log.h"

#include "base/clock.h"
#include "base/json.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { DIGITS = 9, BLEU_TEXT = 32, PERCENT_TEXT = 32, HOST_MAX = 256 };

static double without_sign(double x);
static const char *bleu_text(char out[BLEU_TEXT], const rela_loop_score *score);
static const char *percent_text(char out[PERCENT_TEXT], const rela_valid_zeros *z,
                                const double *shares);

rela_status rela_report_record(rela_buffer *out, const rela_loop_report *r, rela_error *err)
{
    const struct {
        const char *name;
        double value;
    } figures[] = { { "loss", r->loss },
                    { "nll", r->nll },
                    { "lr", r->rate },
                    { "grad_norm", r->grad_norm },
                    { "tokens_per_second", r->tokens_per_second },
                    { "padding", r->padding } };
    rela_status st =
        rela_buffer_printf(out, err, "{\"update\": %llu, \"epoch\": %llu",
                           (unsigned long long)r->update, (unsigned long long)r->epoch);
    for (size_t i = 0; i < sizeof figures / sizeof *figures && st == RELA_OK; i++) {
        st = rela_buffer_printf(out, err, ", \"%s\": ", figures[i].name);
        st = st ? st : rela_json_number(out, figures[i].value, DIGITS, err);
    }
    char host[HOST_MAX] = "";
    char now[32];
    (void)gethostname(host, sizeof host - 1);
    rela_clock_text(now);
    st = st ? st
            : rela_buffer_printf(out, err, ", \"skipped\": %llu, \"time\": \"%s\", \"host\": ",
                                 (unsigned long long)r->n_skipped, now);
    st = st ? st : rela_json_quote(out, host, strlen(host), err);
    return st ? st : rela_buffer_append_text(out, "}\n", err);
}

rela_status rela_report_head(rela_buffer *out, const rela_block_list *list, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "update\tloss\tnll\tperplexity\tbleu\tbest", err);
    for (size_t i = 0; i < list->n_stacks && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "\tsparsity_%s", list->stacks[i].name);
    for (size_t i = 0; i < list->n_stacks && st == RELA_OK; i++)
        if (rela_attn_stack_cross(&list->stacks[i]))
            st = rela_buffer_printf(out, err, "\tnull_%s", list->stacks[i].name);
    return st ? st : rela_buffer_append_char(out, '\n', err);
}

rela_status rela_report_row(rela_buffer *out, uint64_t update, const rela_loop_score *score,
                            const rela_valid_zeros *z, bool is_best, rela_error *err)
{
    rela_status st =
        rela_buffer_printf(out, err, "%llu\t%.6f\t%.6f\t%.4f\t%.4f\t%d", (unsigned long long)update,
                           without_sign(score->loss), without_sign(score->nll),
                           without_sign(score->perplexity), score->bleu, is_best);
    for (size_t i = 0; i < z->list->n_stacks && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "\t%.4f", z->sparsity[i]);
    for (size_t i = 0; i < z->list->n_stacks && st == RELA_OK; i++)
        if (rela_attn_stack_cross(&z->list->stacks[i]))
            st = rela_buffer_printf(out, err, "\t%.4f", z->null[i]);
    return st ? st : rela_buffer_append_char(out, '\n', err);
}

void rela_report_text(char out[RELA_REPORT_MAX], const rela_loop_report *r)
{
    const unsigned long long update = r->update, epoch = r->nth_epoch;
    char speed[RELA_GROUPED_SIZE];
    if (isnan(r->loss))
        rela_format_text(out, RELA_REPORT_MAX,
                         "update %llu, epoch %llu: all updates since the last report were skipped "
                         "as not finite, lr %.3g",
                         update, epoch, r->rate);
    else
        rela_format_text(out, RELA_REPORT_MAX,
                         "update %llu, epoch %llu: loss %.4f, nll %.4f, lr %.3g, norm %.3g, "
                         "%s tok/s",
                         update, epoch, r->loss, r->nll, r->rate, r->grad_norm,
                         rela_grouped(speed, (uint64_t)(r->tokens_per_second + 0.5)));
}

void rela_report_valid_text(char out[RELA_REPORT_MAX], uint64_t update,
                            const rela_loop_score *score, const rela_valid_zeros *z, bool is_best)
{
    char bleu[BLEU_TEXT], zeros[PERCENT_TEXT], null[PERCENT_TEXT];
    rela_format_text(out, RELA_REPORT_MAX,
                     "validation at update %llu: loss %.4f, perplexity %.3f%s, cross attention "
                     "%s %% zeros, %s %% null%s",
                     (unsigned long long)update, without_sign(score->loss),
                     without_sign(score->perplexity), bleu_text(bleu, score),
                     percent_text(zeros, z, z->sparsity), percent_text(null, z, z->null),
                     is_best ? ", best so far" : "");
}

void rela_report_score_text(char out[RELA_REPORT_MAX], const rela_loop_score *score)
{
    char bleu[BLEU_TEXT];
    rela_format_text(out, RELA_REPORT_MAX, "perplexity %.3f%s", without_sign(score->perplexity),
                     bleu_text(bleu, score));
}

/* NaN has a sign, which printf shows. */
static double without_sign(double x)
{
    return isnan(x) ? (double)NAN : x;
}

/* Empty if BLEU was not measured. */
static const char *bleu_text(char out[BLEU_TEXT], const rela_loop_score *score)
{
    out[0] = '\0';
    if (score->bleu >= 0)
        rela_format_text(out, BLEU_TEXT, ", BLEU %.2f", score->bleu);
    return out;
}

/* "61.3"; of several sources "61.3/70.0". */
static const char *percent_text(char out[PERCENT_TEXT], const rela_valid_zeros *z,
                                const double *shares)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < z->list->n_stacks; i++)
        if (rela_attn_stack_cross(&z->list->stacks[i])) {
            rela_format_text(out + used, PERCENT_TEXT - used, "%s%.1f", used ? "/" : "",
                             100 * shares[i]);
            used = strlen(out);
        }
    return out;
}
