/* SPDX-License-Identifier: MIT */
/* src/analyse/figures_captions.c - captions of figures: how to read them, with the numbers of this
 * analysis. */
#include "analyse/figures.h"

#include <math.h>
#include <string.h>

enum { MODELS_NAMED = 4, WORDS_NAMED = 8, WORDS_BYTES = 240 };

static size_t cross_of(const rela_analysis *a, const rela_findings *f)
{
    return rela_block_list_cross(&f->net->list, a->source);
}

void rela_caption_add(rela_figure *f, const char *format, ...)
{
    const size_t used = f->text == f->own ? strlen(f->own) : 0;
    va_list args;
    va_start(args, format);
    rela_format(f->own + used, sizeof f->own - used, format, args);
    va_end(args);
    f->text = f->own;
}

void rela_caption_source(rela_figure *f, const rela_analysis *a)
{
    if (a->n_sources > 1)
        rela_caption_add(f, " About source %zu.", a->source + 1);
}

bool rela_findings_null(const rela_findings *f, bool cross)
{
    for (size_t k = 0; k < f->text.n_stacks; k++)
        if ((!cross || rela_attn_stack_cross(&f->text.stacks[k])) &&
            (rela_mean_over_heads(&f->text, k, rela_null_micro) > 0 ||
             rela_mean_over_heads(&f->permuted, k, rela_null_micro) > 0))
            return true;
    return false;
}

/* ---- curves ---- */

/* "Cross attention" or "Cross attention to source 2". */
static void start_cross(rela_figure *f, const rela_analysis *a)
{
    rela_caption_add(f, " Cross attention");
    if (a->n_sources > 1)
        rela_caption_add(f, " to source %zu", a->source + 1);
}

static void end_models(rela_figure *f, const rela_analysis *a)
{
    rela_caption_add(f, a->n > MODELS_NAMED ? "; others in the table." : ".");
}

void rela_caption_sparsity(rela_figure *f, const rela_analysis *a)
{
    rela_caption_add(f, "Share of attention weights that are exactly zero, mean over the heads of "
                        "a layer: the higher, the fewer positions a query looks at.");
    start_cross(f, a);
    for (size_t i = 0; i < a->n && i < MODELS_NAMED; i++) {
        const rela_findings *m = &a->models[i];
        rela_caption_add(f, "%s %s %.1f %%", i ? "," : ":", m->name,
                         100 * rela_mean_over_heads(&m->text, cross_of(a, m), rela_sparsity_micro));
    }
    end_models(f, a);
}

void rela_caption_null_rate(rela_figure *f, const rela_analysis *a)
{
    rela_caption_add(f, "Share of queries with null attention (all weights of the head are zero), "
                        "mean over the heads of a layer; dashed: the same sources with permuted "
                        "targets.");
    start_cross(f, a);
    for (size_t i = 0; i < a->n && i < MODELS_NAMED; i++) {
        const rela_findings *m = &a->models[i];
        const size_t k = cross_of(a, m);
        rela_caption_add(f, "%s %s %.1f %%, permuted %.1f %%", i ? ";" : ":", m->name,
                         100 * rela_mean_over_heads(&m->text, k, rela_null_micro),
                         100 * rela_mean_over_heads(&m->permuted, k, rela_null_micro));
    }
    end_models(f, a);
}

/* Of the curves of a model: the best head and the mean of each layer, normal and shifted. */
static rela_head_choice lowest_curve(const rela_head_aer *e)
{
    rela_head_choice best = { 0, RELA_HEAD_MEAN, false };
    for (int shift = 0; shift < 2; shift++)
        for (size_t i = 0; i < e->layers; i++) {
            const rela_head_choice head = rela_head_aer_best_of(e, i, shift == 1);
            const rela_head_choice mean = { (int32_t)i, RELA_HEAD_MEAN, shift == 1 };
            best = rela_head_aer_get(e, head) < rela_head_aer_get(e, best) ? head : best;
            best = rela_head_aer_get(e, mean) < rela_head_aer_get(e, best) ? mean : best;
        }
    return best;
}

void rela_caption_aer(rela_figure *f, const rela_analysis *a)
{
    const rela_findings *best = a->models;
    rela_head_choice c = lowest_curve(&best->aer);
    for (size_t i = 1; i < a->n; i++) {
        const rela_head_choice other = lowest_curve(&a->models[i].aer);
        if (rela_head_aer_get(&a->models[i].aer, other) < rela_head_aer_get(&best->aer, c)) {
            best = &a->models[i];
            c = other;
        }
    }
    rela_caption_add(f,
                     "Alignment error rate of links taken from the cross attention of each "
                     "layer: solid of its best head, dashed of the mean of its heads; lower is "
                     "better. The lowest is %.1f %%: %s, layer %d, ",
                     100 * rela_head_aer_get(&best->aer, c), best->name, c.layer + 1);
    if (c.head == RELA_HEAD_MEAN)
        rela_caption_add(f, "mean of its heads");
    else
        rela_caption_add(f, "head %d", c.head + 1);
    rela_caption_add(f, c.shift ? ", shifted." : ", normal.");
    rela_caption_source(f, a);
}

void rela_caption_diversity(rela_figure *f, const rela_analysis *a)
{
    bool same = true, one = true;
    for (size_t i = 0; i < a->n; i++) {
        same = same && a->models[i].text.heads == a->models[0].text.heads;
        one = one && rela_measures_sum_one(&a->models[i].text);
    }
    rela_caption_add(f,
                     "Jensen-Shannon divergence between the heads of a layer (natural "
                     "logarithm%s): 0 if all heads attend alike, at most ln(heads)",
                     one ? "" : ", temperature 1");
    if (same)
        rela_caption_add(f, "; ln(%zu) is %.2f", a->models[0].text.heads,
                         log((double)a->models[0].text.heads));
    rela_caption_add(f, ".");
    if (!one)
        rela_caption_add(f,
                         " Where weights do not sum to one, the softmax below the table keeps it "
                         "lower, so compare models of different kinds with care.");
}

/* ---- maps of null rates ---- */

void rela_caption_null_heads(rela_figure *f, const rela_analysis *a, const rela_findings *m)
{
    const size_t stack = cross_of(a, m), heads = m->text.heads;
    const size_t n = heads * m->text.stacks[stack].layers;
    const rela_head_sums *text = m->text.head[stack], *permuted = m->permuted.head[stack];
    size_t low = 0, high = 0, risen = 0;
    for (size_t i = 0; i < n; i++) {
        const double rate = rela_null_micro(&text[i]);
        low = rate < rela_null_micro(&text[low]) ? i : low;
        high = rate > rela_null_micro(&text[high]) ? i : high;
        risen += rela_null_micro(&permuted[i]) > rate;
    }
    rela_caption_add(f, "Null rate of every cross-attention head in percent, on the text and with "
                        "permuted targets.");
    start_cross(f, a);
    rela_caption_add(f,
                     ": on the text from %.1f %% (layer %zu, head %zu) to %.1f %% (layer %zu, head "
                     "%zu); with permuted targets %zu of %zu heads have a higher rate.",
                     100 * rela_null_micro(&text[low]), low / heads + 1, low % heads + 1,
                     100 * rela_null_micro(&text[high]), high / heads + 1, high % heads + 1, risen,
                     n);
}

/* Null rate over all heads after words of a tag; negative: there are no such words. */
static double tag_rate(const rela_tag_null *t, size_t tag)
{
    uint64_t null = 0, rows = 0;
    for (size_t i = 0; i < t->layers * t->heads; i++) {
        null += t->cells[i * t->n_tags + tag].null_rows;
        rows += t->cells[i * t->n_tags + tag].rows;
    }
    return rows ? (double)null / (double)rows : -1;
}

void rela_caption_tags(rela_figure *f, const rela_analysis *a, const rela_findings *m)
{
    const rela_tag_null *t = &m->tags;
    size_t low = SIZE_MAX, high = SIZE_MAX;
    for (size_t i = 0; i < t->n_tags; i++) {
        const double rate = tag_rate(t, i);
        if (rate >= 0 && (low == SIZE_MAX || rate < tag_rate(t, low)))
            low = i;
        if (rate >= 0 && (high == SIZE_MAX || rate > tag_rate(t, high)))
            high = i;
    }
    rela_caption_add(f, "Null rate of every cross-attention head in percent, by the part of speech "
                        "of the target word before. A row is a head (layer.head); in brackets "
                        "is the number of queries after a word with the tag; (start) is the first "
                        "query of a sentence, which has no word before it.");
    if (low != high) {
        const rela_span most = rela_map_key(a->tag_names, (uint32_t)high);
        const rela_span least = rela_map_key(a->tag_names, (uint32_t)low);
        rela_caption_add(f,
                         " Over all heads it is highest after %.*s (%.1f %%) and lowest after "
                         "%.*s (%.1f %%).",
                         (int)(most.len < 40 ? most.len : 40), most.text, 100 * tag_rate(t, high),
                         (int)(least.len < 40 ? least.len : 40), least.text,
                         100 * tag_rate(t, low));
    }
    rela_caption_source(f, a);
}

/* ---- maps of an example ---- */

size_t rela_example_rows(const rela_analysis *a, const rela_example *e)
{
    return e->n_q - (a->skip_end && e->n_q > 1);
}

bool rela_example_null(const rela_example *e, size_t head, size_t row)
{
    const double *w = e->w + (head * e->n_q + row) * e->n_k;
    for (size_t i = 0; i < e->n_k; i++)
        if (w[i] != 0)
            return false;
    return true;
}

/* Number of heads in which a row is null. */
static size_t null_heads(const rela_example *e, size_t row)
{
    size_t n = 0;
    for (size_t k = 0; k < e->heads; k++)
        n += rela_example_null(e, k, row);
    return n;
}

static size_t null_rows(const rela_analysis *a, const rela_example *e)
{
    size_t n = 0;
    for (size_t q = 0; q < rela_example_rows(a, e); q++)
        n += null_heads(e, q);
    return n;
}

/* Names the rows that are null in every head, as many as fit. */
static void name_null_rows(rela_figure *f, const rela_analysis *a, const rela_example *e)
{
    size_t n = 0, named = 0, bytes = 0;
    for (size_t q = 0; q < rela_example_rows(a, e); q++) {
        if (null_heads(e, q) < e->heads)
            continue;
        bytes += strlen(e->rows[q]);
        if (n++ == named && named < WORDS_NAMED && bytes < WORDS_BYTES)
            rela_caption_add(f, "%s %s", named++ ? "," : "; in all heads:", e->rows[q]);
    }
    if (n > named)
        rela_caption_add(f, named ? " and %zu more" : "; %zu in all heads", n - named);
}

static void describe_null_rows(rela_figure *f, const rela_analysis *a, const rela_example *e,
                               const rela_example *own)
{
    const size_t n = null_rows(a, e), all = e->heads * rela_example_rows(a, e);
    if (n == 0) {
        rela_caption_add(f, " No row has null attention");
    } else {
        rela_caption_add(f,
                         " Hatched grey rows, marked \xE2\x88\x85, have null attention: %zu of %zu "
                         "(%.1f %%)",
                         n, all, 100 * (double)n / (double)all);
        name_null_rows(f, a, e);
    }
    rela_caption_add(f, rela_example_rows(a, e) < e->n_q ? "; <eos> is not counted." : ".");
    if (own)
        rela_caption_add(f, " With its own target %.1f %% have.",
                         100 * (double)null_rows(a, own) /
                             (double)(own->heads * rela_example_rows(a, own)));
}

/* How shades are to be read, and how many weights have none. */
static void describe_shades(rela_figure *f, const rela_example *e)
{
    const size_t n = e->heads * e->n_q * e->n_k;
    size_t zeros = 0;
    for (size_t i = 0; i < n; i++)
        zeros += e->w[i] == 0;
    rela_caption_add(f,
                     " Darker is more, relative to the largest weight of the head (square root); "
                     "only zero is white.");
    if (zeros)
        rela_caption_add(f, " %.1f %% of the weights shown are exactly zero.",
                         100 * (double)zeros / (double)n);
    else
        rela_caption_add(f, " No weight shown is exactly zero.");
}

static void describe_gold(rela_figure *f, const rela_example *e)
{
    bool possible = false;
    for (size_t i = 0; i < e->n_gold; i++)
        possible = possible || e->gold[i].dashed;
    if (e->n_gold)
        rela_caption_add(f, " Cells outlined in orange are gold links%s%s.",
                         possible ? ", with dashes where they are only possible" : "",
                         e->words ? "" : "; an outline spans all pieces of both words");
}

void rela_caption_example(rela_figure *f, const rela_analysis *a, const rela_findings *m,
                          bool permuted)
{
    const rela_example *e = permuted ? &m->example_permuted : &m->example;
    const char *unit = e->words ? "word" : "subword piece";
    if (permuted)
        rela_caption_add(f,
                         "Cross attention of layer %zu on the source of line %llu, with the target "
                         "of line %llu.",
                         e->layer + 1, (unsigned long long)e->line, (unsigned long long)e->target);
    else
        rela_caption_add(f,
                         "Cross attention of layer %zu on line %llu, head by head: a row is the "
                         "target %s that is predicted, a column a source %s.%s",
                         e->layer + 1, (unsigned long long)e->line, unit, unit,
                         e->words ? " Weights of the pieces of a source word are added up, those "
                                    "of a target word averaged."
                                  : "");
    describe_shades(f, e);
    if (!m->text.sum_one[cross_of(a, m)])
        describe_null_rows(f, a, e, permuted && m->example.line ? &m->example : NULL);
    describe_gold(f, e);
    rela_caption_source(f, a);
}
