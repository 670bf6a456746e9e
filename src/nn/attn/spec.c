/* SPDX-License-Identifier: MIT */
/* src/nn/attn/spec.c - see spec.h. */
#include "nn/attn/spec.h"

#include "base/nearest.h"
#include "base/str.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LAYERS_MOST = 65535, NAME_MAX_LEN = 32, FAMILY_LEAST = 3, LIST_MAX_LEN = 120 };

/* One group as written. */
typedef struct group {
    size_t count; /* 0: the rest */
    const rela_attn_kind *kind;
    real numbers[RELA_ATTN_NUMBERS_MAX];
    bool set[RELA_ATTN_NUMBERS_MAX];
} group;

typedef struct layers {
    size_t first, last; /* from 1; 0: the rest */
    group groups[RELA_GROUPS_MAX];
    size_t n_groups;
} layers;

typedef struct place {
    layers ranges[RELA_ATTN_RANGES_MAX];
    size_t n;
} place;

/* The text as it is read. */
typedef struct scanner {
    const char *start, *at;
    rela_error *err;
} scanner;

static rela_status parse_place(place *p, scanner *s);
static rela_status print_place(rela_attn_spec *out, const place *p, rela_error *err);

rela_status rela_attn_spec_parse(rela_attn_spec *out, const char *text, rela_error *err)
{
    place p;
    scanner s = { text, text, err };
    const rela_status st = parse_place(&p, &s);
    return st ? st : print_place(out, &p, err);
}

/* ---- reading ---- */

static rela_status fail(const scanner *s, const char *why)
{
    return *s->at ? rela_fail(s->err, RELA_ARG, "attention '%s': %s at '%s'", s->start, why, s->at)
                  : rela_fail(s->err, RELA_ARG, "attention '%s': %s at the end", s->start, why);
}

/* Reads a whole number, if there is one here. */
static bool scan_count(scanner *s, size_t *value)
{
    size_t v = 0;
    const char *at = s->at;
    for (; *at >= '0' && *at <= '9' && v <= LAYERS_MOST; at++)
        v = 10 * v + (size_t)(*at - '0');
    if (at == s->at || v > LAYERS_MOST || v == 0)
        return false;
    s->at = at;
    *value = v;
    return true;
}

static size_t name_length(const char *at)
{
    return strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
}

static rela_status unknown_number(const rela_attn_kind *kind, const scanner *s, size_t len)
{
    char given[NAME_MAX_LEN];
    rela_nearest best = { NULL, 0 };
    (void)snprintf(given, sizeof given, "%.*s", (int)len, s->at);
    for (const rela_attn_number *n = kind->numbers; n && n->name; n++)
        rela_nearest_offer(&best, given, n->name, strlen(n->name));
    return rela_fail(s->err, RELA_ARG, "attention '%s': %s has no number '%s'%s%s%s", s->start,
                     kind->name, given, best.name ? "; did you mean '" : "",
                     best.name ? best.name : "", best.name ? "'?" : "");
}

static rela_status scan_number(group *g, scanner *s)
{
    const size_t len = name_length(s->at);
    size_t i = 0;
    const rela_attn_number *n = g->kind->numbers;
    while (n && n[i].name && (strlen(n[i].name) != len || strncmp(n[i].name, s->at, len) != 0))
        i++;
    if (!n || !n[i].name)
        return unknown_number(g->kind, s, len);
    if (s->at[len] != '=')
        return fail(s, "expected name=value");
    const char *value = s->at + len + 1;
    char digits[NAME_MAX_LEN];
    const size_t n_digits = strspn(value, "0123456789.eE-"); /* '+' begins the next group */
    double v = NAN;
    if (n_digits < sizeof digits) {
        memcpy(digits, value, n_digits);
        digits[n_digits] = '\0';
        if (!rela_parse_f64(&v, digits))
            v = NAN;
    }
    if (!(v >= n[i].least && v <= n[i].most) || (n[i].whole && v != floor(v)))
        return rela_fail(s->err, RELA_ARG, "attention '%s': %s of %s is '%.*s'; expected %s%g..%g",
                         s->start, n[i].name, g->kind->name, (int)strcspn(value, ":+,"), value,
                         n[i].whole ? "a whole number, " : "", n[i].least, n[i].most);
    if (g->set[i])
        return fail(s, "a number is set twice");
    g->numbers[i] = (real)v;
    g->set[i] = true;
    s->at = value + n_digits;
    return RELA_OK;
}

/* Appends the kinds that begin with a word, which are meant when it is a family like "rela". */
static size_t list_family(char *list, size_t size, const char *word, size_t len)
{
    size_t n = 0, used = 0;
    for (size_t i = 0; len >= FAMILY_LEAST && rela_attn_kind_at(i); i++) {
        const char *name = rela_attn_kind_at(i)->name;
        if (strncasecmp(name, word, len) != 0)
            continue;
        const int more = snprintf(list + used, size - used, "%s%s", n++ ? " or " : "", name);
        used += more > 0 && used + (size_t)more < size ? (size_t)more : 0;
    }
    return n;
}

/* Quotes all up to the end of the group: a kind with a point in its name may be meant. */
static rela_status unknown_kind(const scanner *s)
{
    char family[LIST_MAX_LEN] = "";
    rela_nearest best = { NULL, 0 };
    const size_t len = strcspn(s->at, ":+,= ");
    if (s->at[len] == '=' && s->at > s->start && s->at[-1] == ',')
        return fail(s, "numbers of a kind are separated by ':', not by ','");
    char name[NAME_MAX_LEN];
    (void)snprintf(name, sizeof name, "%.*s", (int)len, s->at);
    for (size_t i = 0; rela_attn_kind_at(i); i++)
        rela_nearest_offer(&best, name, rela_attn_kind_at(i)->name,
                           strlen(rela_attn_kind_at(i)->name));
    if ((!best.name || best.distance > 0) && list_family(family, sizeof family, s->at, len) > 0)
        return rela_fail(s->err, RELA_ARG,
                         "unknown attention '%.*s'; did you mean %s? 'rela info --attention' lists "
                         "the kinds",
                         (int)len, s->at, family);
    return rela_fail(s->err, RELA_ARG,
                     "unknown attention '%.*s'; %s%s%s'rela info --attention' lists the kinds",
                     (int)len, s->at, best.name ? "did you mean '" : "", best.name ? best.name : "",
                     best.name ? "'? " : "");
}

static rela_status scan_kind(group *g, scanner *s)
{
    char name[NAME_MAX_LEN];
    const size_t len = name_length(s->at);
    if (len == 0 || len >= sizeof name)
        return fail(s, "expected a kind of attention");
    memcpy(name, s->at, len);
    name[len] = '\0';
    g->kind = rela_attn_kind_find(name);
    if (!g->kind)
        return unknown_kind(s);
    rela_attn_numbers_start(g->numbers, g->kind);
    s->at += len;
    return RELA_OK;
}

static rela_status scan_group(group *g, scanner *s)
{
    const char *before = s->at;
    *g = (group){ .count = 0 };
    if (scan_count(s, &g->count)) {
        if (*s->at == 'x') {
            s->at++;
        } else { /* a name may begin with a digit */
            s->at = before;
            g->count = 0;
        }
    }
    rela_status st = scan_kind(g, s);
    while (st == RELA_OK && *s->at == ':') {
        s->at++;
        st = scan_number(g, s);
    }
    return st;
}

static rela_status scan_range(layers *l, scanner *s)
{
    const char *before = s->at;
    *l = (layers){ .first = 0 };
    if (*before == '0' && (before[1] == '=' || before[1] == '-'))
        return fail(s, "layers are counted from 1;");
    if (!scan_count(s, &l->first))
        return RELA_OK;
    l->last = l->first;
    bool good = true;
    if (*s->at == '-') {
        s->at++;
        good = scan_count(s, &l->last) && l->last >= l->first;
    }
    if (good && *s->at == '=') {
        s->at++;
        return RELA_OK;
    }
    if (before[strspn(before, "0123456789")] != 'x')
        return fail(s, "expected layers like 2= or 1-3=");
    s->at = before; /* a count of heads */
    l->first = l->last = 0;
    return RELA_OK;
}

static rela_status parse_layers(layers *l, scanner *s)
{
    rela_status st = scan_range(l, s);
    do {
        if (st == RELA_OK && l->n_groups == RELA_GROUPS_MAX)
            st = fail(s, "too many groups of heads");
        st = st ? st : scan_group(&l->groups[l->n_groups++], s);
    } while (st == RELA_OK && *s->at == '+' && s->at++);
    size_t open = 0;
    for (size_t i = 0; i < l->n_groups; i++)
        open += l->groups[i].count == 0;
    if (st == RELA_OK && open > 1)
        st = rela_fail(s->err, RELA_ARG,
                       "attention '%s': several kinds without a number of heads; expected one at "
                       "most, as in 2xrela-g+softmax",
                       s->start);
    return st;
}

static rela_status parse_place(place *p, scanner *s)
{
    rela_status st = RELA_OK;
    p->n = 0;
    do {
        if (p->n == RELA_ATTN_RANGES_MAX)
            return fail(s, "too many ranges of layers");
        st = parse_layers(&p->ranges[p->n++], s);
    } while (st == RELA_OK && *s->at == ',' && s->at++);
    if (st == RELA_OK && *s->at)
        st = fail(s, "expected ',' or '+'");
    return st;
}

/* ---- writing ---- */

/* Never with an exponent like e+02, whose '+' would begin the next group. */
static rela_status print_number(rela_buffer *out, real value, rela_error *err)
{
    if (value == (real)floor((double)value) && fabs((double)value) < 1e7)
        return rela_buffer_printf(out, err, "%.0f", (double)value);
    return rela_buffer_append_f64(out, (double)value, sizeof(real) == sizeof(float), err);
}

static rela_status print_group(rela_buffer *out, const group *g, rela_error *err)
{
    rela_status st = RELA_OK;
    if (g->count)
        st = rela_buffer_printf(out, err, "%zux", g->count);
    st = st ? st : rela_buffer_append_text(out, g->kind->name, err);
    for (size_t i = 0; g->kind->numbers && g->kind->numbers[i].name && st == RELA_OK; i++)
        if (g->numbers[i] != (real)g->kind->numbers[i].start) {
            st = rela_buffer_printf(out, err, ":%s=", g->kind->numbers[i].name);
            st = st ? st : print_number(out, g->numbers[i], err);
        }
    return st;
}

static rela_status print_place(rela_attn_spec *out, const place *p, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < p->n && st == RELA_OK; i++) {
        const layers *l = &p->ranges[i];
        st = i ? rela_buffer_append_text(&text, ",", err) : RELA_OK;
        if (st == RELA_OK && l->first)
            st = l->last > l->first ? rela_buffer_printf(&text, err, "%zu-%zu=", l->first, l->last)
                                    : rela_buffer_printf(&text, err, "%zu=", l->first);
        for (size_t g = 0; g < l->n_groups && st == RELA_OK; g++) {
            st = g ? rela_buffer_append_text(&text, "+", err) : RELA_OK;
            st = st ? st : print_group(&text, &l->groups[g], err);
        }
    }
    if (st == RELA_OK && text.len >= sizeof out->text)
        st = rela_fail(err, RELA_ARG, "attention '%.40s...' is longer than %d bytes", text.data,
                       RELA_ATTN_SPEC_MAX - 1);
    if (st == RELA_OK && text.data) {
        memset(out, 0, sizeof *out); /* configurations are compared byte by byte */
        memcpy(out->text, text.data, text.len);
    }
    rela_buffer_free(&text);
    return st;
}

/* ---- use ---- */

static void parse_again(place *p, const rela_attn_spec *s)
{
    scanner again = { s->text, s->text, NULL };
    const rela_status st = parse_place(p, &again);
    assert(st == RELA_OK);
    (void)st;
}

static rela_status check_heads(const rela_attn_spec *s, const layers *l, size_t heads,
                               rela_error *err)
{
    size_t counted = 0, open = 0;
    for (size_t g = 0; g < l->n_groups; g++) {
        counted += l->groups[g].count;
        open += l->groups[g].count == 0;
    }
    if (open ? counted < heads : counted == heads)
        return RELA_OK;
    return rela_fail(err, RELA_ARG, "attention '%s': groups of %zu heads, but there are %zu",
                     s->text, counted + open, heads);
}

/* A range of all layers and a count of all heads are redundant. */
rela_status rela_attn_spec_shorten(rela_attn_spec *s, size_t n_layers, size_t heads,
                                   rela_error *err)
{
    place p;
    parse_again(&p, s);
    if (p.n == 1 && p.ranges[0].first == 1 && p.ranges[0].last == n_layers)
        p.ranges[0].first = p.ranges[0].last = 0;
    for (size_t i = 0; i < p.n; i++)
        if (p.ranges[i].n_groups == 1 && p.ranges[i].groups[0].count == heads)
            p.ranges[i].groups[0].count = 0;
    return print_place(s, &p, err);
}

rela_status rela_attn_spec_check(const rela_attn_spec *s, size_t n_layers, size_t heads,
                                 rela_error *err)
{
    place p;
    size_t rest = 0;
    rela_status st = RELA_OK;
    parse_again(&p, s);
    for (size_t i = 0; i < p.n && st == RELA_OK; i++) {
        rest += p.ranges[i].first == 0;
        if (p.ranges[i].last > n_layers)
            st = rela_fail(err, RELA_ARG, "attention '%s': no layer %zu; there %s only %zu",
                           s->text, p.ranges[i].last, n_layers == 1 ? "is" : "are", n_layers);
        st = st ? st : check_heads(s, &p.ranges[i], heads, err);
    }
    for (size_t layer = 1; layer <= n_layers && st == RELA_OK; layer++) {
        size_t named = 0;
        for (size_t i = 0; i < p.n; i++)
            named += p.ranges[i].first && layer >= p.ranges[i].first && layer <= p.ranges[i].last;
        if (named > 1 || named + rest == 0 || rest > 1)
            st = rela_fail(err, RELA_ARG, "attention '%s': layer %zu is named %s", s->text, layer,
                           named + rest == 0 ? "nowhere" : "twice");
    }
    return st;
}

size_t rela_attn_spec_groups(rela_attn_group groups[RELA_GROUPS_MAX], const rela_attn_spec *s,
                             size_t layer, size_t heads)
{
    place p;
    const layers *l = NULL;
    size_t counted = 0, first = 0;
    parse_again(&p, s);
    for (size_t i = 0; i < p.n; i++) {
        const layers *r = &p.ranges[i];
        if (r->first ? layer + 1 >= r->first && layer + 1 <= r->last : !l)
            l = r;
    }
    assert(l != NULL);
    for (size_t g = 0; g < l->n_groups; g++)
        counted += l->groups[g].count;
    for (size_t g = 0; g < l->n_groups; g++) {
        const group *from = &l->groups[g];
        groups[g] = (rela_attn_group){ .kind = from->kind,
                                       .first = first,
                                       .heads = from->count ? from->count : heads - counted };
        memcpy(groups[g].numbers, from->numbers, sizeof groups[g].numbers);
        first += groups[g].heads;
    }
    return l->n_groups;
}

rela_status rela_attn_spec_alias(rela_attn_spec *s, const char *alias, double value,
                                 rela_error *err)
{
    place p;
    parse_again(&p, s);
    for (size_t i = 0; i < p.n; i++)
        for (size_t g = 0; g < p.ranges[i].n_groups; g++) {
            group *to = &p.ranges[i].groups[g];
            const rela_attn_number *n = to->kind->numbers;
            for (size_t k = 0; n && n[k].name; k++) {
                if (!n[k].alias || strcmp(n[k].alias, alias) != 0 || to->set[k])
                    continue;
                if (!(value >= n[k].least && value <= n[k].most))
                    return rela_fail(err, RELA_ARG, "%s of %s is %g; expected %g..%g", n[k].name,
                                     to->kind->name, value, n[k].least, n[k].most);
                to->numbers[k] = (real)value;
            }
        }
    return print_place(s, &p, err);
}

void rela_attn_numbers_start(real numbers[RELA_ATTN_NUMBERS_MAX], const rela_attn_kind *kind)
{
    for (size_t i = 0; kind->numbers && kind->numbers[i].name; i++)
        numbers[i] = (real)kind->numbers[i].start;
}

const rela_attn_number *rela_attn_alias_find(const char *alias, size_t len)
{
    const rela_attn_kind *kind = NULL;
    for (size_t i = 0; (kind = rela_attn_kind_at(i)) != NULL; i++)
        for (size_t k = 0; kind->numbers && kind->numbers[k].name; k++) {
            const char *name = kind->numbers[k].alias;
            if (name && strlen(name) == len && memcmp(name, alias, len) == 0)
                return &kind->numbers[k];
        }
    return NULL;
}
