/* SPDX-License-Identifier: MIT */
/* src/data/corpus_judge.c - see corpus_judge.h. */
#include "data/corpus_judge.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <string.h>

static bool is_empty(const size_t *len, size_t n_sides);
static void cut_sides(rela_corpus_item *it, rela_ids *ids, size_t n_sides, size_t limit);
static bool too_different(const rela_corpus_item *it, size_t n_sides, double ratio);

rela_status rela_corpus_rules_check(const rela_corpus_rules *r, rela_error *err)
{
    if (r->max_tokens < 1 || r->max_tokens > RELA_CORPUS_TOKENS_MAX)
        return rela_fail(err, RELA_ARG, "max_tokens is %d; expected 1..%d", (int)r->max_tokens,
                         RELA_CORPUS_TOKENS_MAX);
    if (r->max_line < 1 || r->max_line > RELA_LINE_MAX)
        return rela_fail(err, RELA_ARG, "max_line is %llu bytes; expected 1..%d",
                         (unsigned long long)r->max_line, RELA_LINE_MAX);
    if (r->max_ratio != 0 && !(r->max_ratio >= 1))
        return rela_fail(err, RELA_ARG, "max_ratio is %g; expected 0 or at least 1", r->max_ratio);
    return RELA_OK;
}

rela_corpus_reason rela_corpus_judge_text(rela_corpus_item *it, rela_span *side, size_t n_sides,
                                          const rela_corpus_rules *rules)
{
    const rela_span *target = &side[n_sides - 1];
    size_t len[RELA_SIDES_MAX];
    for (size_t i = 0; i < n_sides; i++)
        if (rela_utf8_valid(side[i].text, side[i].len) != side[i].len)
            return RELA_CORPUS_UTF8;
    for (size_t i = 0; i < n_sides; i++) {
        side[i] = rela_trim(side[i]);
        len[i] = side[i].len;
        it->has_nul = it->has_nul || (side[i].len && memchr(side[i].text, '\0', side[i].len));
    }
    if (is_empty(len, n_sides))
        return RELA_CORPUS_EMPTY;
    for (size_t i = 0; rules->drop_identical && i + 1 < n_sides; i++)
        if (side[i].len == target->len && memcmp(side[i].text, target->text, target->len) == 0)
            return RELA_CORPUS_IDENTICAL;
    return RELA_CORPUS_KEPT;
}

rela_corpus_reason rela_corpus_judge_lengths(rela_corpus_item *it, rela_ids *ids, size_t n_sides,
                                             const rela_corpus_rules *rules)
{
    const size_t limit = (size_t)rules->max_tokens;
    bool over = false;
    if (is_empty(it->n, n_sides))
        return RELA_CORPUS_EMPTY;
    for (size_t i = 0; i < n_sides; i++)
        over = over || it->n[i] > limit;
    if (over && !rules->cut)
        return RELA_CORPUS_TOKENS;
    if (over)
        cut_sides(it, ids, n_sides, limit);
    return too_different(it, n_sides, rules->max_ratio) ? RELA_CORPUS_RATIO : RELA_CORPUS_KEPT;
}

/* All sources are empty, or the target is. */
static bool is_empty(const size_t *len, size_t n_sides)
{
    size_t sources = 0;
    for (size_t i = 0; i + 1 < n_sides; i++)
        sources += len[i];
    return sources == 0 || len[n_sides - 1] == 0;
}

/* Shortens all sides to the limit, and closes the gaps. */
static void cut_sides(rela_corpus_item *it, rela_ids *ids, size_t n_sides, size_t limit)
{
    size_t all = 0;
    for (size_t i = 0; i < n_sides; i++)
        all += it->n[i];
    int32_t *from = ids->data + ids->len - all, *to = from;
    for (size_t i = 0; i < n_sides; i++) {
        const size_t n = it->n[i] < limit ? it->n[i] : limit;
        memmove(to, from, n * sizeof *to);
        from += it->n[i];
        to += n;
        it->n[i] = n;
    }
    ids->len = (size_t)(to - ids->data);
    it->was_cut = true;
}

/* If there are several sources, empty ones are not compared. */
static bool too_different(const rela_corpus_item *it, size_t n_sides, double ratio)
{
    const double tgt = (double)it->n[n_sides - 1];
    for (size_t i = 0; ratio > 0 && i + 1 < n_sides; i++) {
        const double src = (double)it->n[i];
        if (src > 0 && (src > ratio * tgt || tgt > ratio * src))
            return true;
    }
    return false;
}

rela_status rela_ids_push(rela_ids *ids, int32_t id, rela_error *err)
{
    int32_t *p = rela_mem_grow(ids->data, &ids->cap, ids->len + 1, sizeof *p);
    if (!p)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu tokens", ids->len + 1);
    ids->data = p;
    p[ids->len++] = id;
    return RELA_OK;
}

void rela_ids_free(rela_ids *ids)
{
    if (!ids)
        return;
    rela_mem_free(ids->data);
    *ids = (rela_ids){ NULL, 0, 0 };
}
