/* SPDX-License-Identifier: MIT */
/* src/serve/call_fields.c - what a request asks for, in the words of each interface. */
#include "serve/service_state.h"

#include "base/mem.h"
#include "serve/markup_text.h"
#include <string.h>

enum { BEAM_MAX = 64, BEAM = 4, LENGTH_MAX = 4096 };

static rela_status choose_model(rela_call *c, const rela_service *s, const rela_fields *f,
                                rela_error *err);
static rela_status read_common(rela_call *c, const rela_service *s, const rela_exchange *x,
                               const rela_fields *f, rela_error *err);
static rela_status read_own(rela_call *c, const rela_fields *f, rela_error *err);
static rela_status read_sampling(rela_call *c, rela_span text, rela_error *err);
static rela_status read_texts(rela_call *c, const rela_service *s, const rela_fields *f,
                              int *status, rela_error *err);

rela_status rela_call_create(rela_call **out, rela_service *s, rela_exchange *x,
                             const rela_fields *f, rela_interface form, int *status,
                             rela_error *err)
{
    *out = NULL;
    *status = 400;
    rela_call *c = rela_mem_zalloc(sizeof *c);
    if (!c)
        return rela_fail(err, RELA_NOMEM, "no memory for the request");
    c->connection = -1;
    c->form = form;
    c->client = x->client;
    c->began = s->now;
    memcpy(c->request_id, x->id, sizeof c->request_id);
    rela_translate_options_init(&c->options, sizeof c->options);
    c->options.split = RELA_SPLIT_NEVER; /* done here, so that connections can take turns */
    c->options.not_finite = RELA_NOT_FINITE_MARK;
    rela_status st = choose_model(c, s, f, err);
    if (st == RELA_STATE)
        *status = 503;
    st = st ? st : read_common(c, s, x, f, err);
    st = st == RELA_OK && form == RELA_INTERFACE_OWN ? read_own(c, f, err) : st;
    st = st ? st : read_texts(c, s, f, status, err);
    if (st == RELA_OK && c->text.n_sentences) {
        const size_t n = c->text.n_sentences;
        c->outcomes = rela_mem_zalloc(n * sizeof *c->outcomes);
        c->names = rela_mem_zalloc(n * sizeof *c->names);
        c->where = rela_mem_array(n, sizeof *c->where);
        if (!c->outcomes || !c->names || !c->where)
            st = rela_fail(err, RELA_NOMEM, "no memory for %zu sentences", n);
        for (size_t i = 0, k = 0; i < c->text.n && st == RELA_OK; i++)
            if (c->text.items[i].sentence)
                c->where[k++] = i;
    }
    if (st == RELA_OK)
        *out = c;
    else
        rela_call_free(s, c);
    return st;
}

/* ---- languages ---- */

static size_t primary(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && text[n] != '-' && text[n] != '_')
        n++;
    return n;
}

bool rela_language_matches(const char *code, rela_span asked)
{
    const size_t own = primary(code, strlen(code)), n = primary(asked.text, asked.len);
    char text[16] = "";
    if (own != n || n >= sizeof text)
        return false;
    memcpy(text, code, n);
    return rela_http_same((rela_span){ asked.text, n }, text);
}

static bool is_auto(rela_span code)
{
    return code.len == 0 || rela_http_same(code, "auto");
}

static bool serves(const rela_service_model *m, rela_span source, rela_span target)
{
    return (is_auto(target) || rela_language_matches(m->target, target)) &&
           (is_auto(source) || rela_language_matches(m->source, source));
}

/* The first model between these languages; auto: the only language that leads to the target. */
rela_service_model *rela_service_find(const rela_service *s, rela_span source, rela_span target)
{
    rela_service_model *found = NULL;
    for (size_t i = 0; i < s->n_models; i++) {
        rela_service_model *m = s->models[i];
        if (!serves(m, source, target))
            continue;
        if (found && is_auto(source) && strcmp(found->source, m->source) != 0)
            return NULL;
        if (found && is_auto(target) && strcmp(found->target, m->target) != 0)
            return NULL;
        found = found ? found : m;
    }
    return found;
}

static bool several_fit(const rela_service *s, rela_span source, rela_span target)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_models; i++)
        n += serves(s->models[i], source, target);
    return n > 1;
}

/* Of one model, if it was named. */
static rela_status not_supported(rela_span name, rela_span source, rela_span target,
                                 rela_error *err)
{
    char model[80] = "", from[32] = "", to[32] = "";
    if (name.len)
        rela_format_text(model, sizeof model,
                         "model '%.*s': ", (int)(name.len < 64 ? name.len : 64), name.text);
    if (!is_auto(source))
        rela_format_text(from, sizeof from, is_auto(target) ? "from %.*s" : "%.*s ",
                         (int)(source.len < 16 ? source.len : 16), source.text);
    if (!is_auto(target))
        rela_format_text(to, sizeof to, "to %.*s", (int)(target.len < 16 ? target.len : 16),
                         target.text);
    return rela_fail(err, RELA_FORMAT, "%s%s%s is not supported: see %s", model, from, to,
                     name.len ? "/v1/models" : "/languages");
}

static rela_status choose_model(rela_call *c, const rela_service *s, const rela_fields *f,
                                rela_error *err)
{
    const bool deepl = c->form == RELA_INTERFACE_DEEPL;
    const rela_span source = rela_fields_get(f, deepl ? "source_lang" : "source");
    const rela_span target = rela_fields_get(f, deepl ? "target_lang" : "target");
    const rela_span name =
        c->form == RELA_INTERFACE_OWN ? rela_fields_get(f, "model") : (rela_span){ NULL, 0 };
    if (s->n_models == 0)
        return rela_fail(err, RELA_STATE, "the models are being loaded");
    for (size_t i = 0; i < s->n_models && name.text && !c->model; i++)
        if (rela_span_is(name, s->models[i]->name))
            c->model = s->models[i];
    if (c->model && !serves(c->model, source, target)) {
        c->model = NULL;
        return not_supported(name, source, target, err);
    }
    if (!name.text && c->form != RELA_INTERFACE_OWN && target.len == 0)
        return rela_fail(err, RELA_FORMAT, "Invalid request: missing %s parameter",
                         deepl ? "target_lang" : "target");
    if (!name.text)
        c->model = rela_service_find(s, source, target);
    if (!c->model && name.text)
        return rela_fail(err, RELA_FORMAT, "there is no model '%.*s'",
                         (int)(name.len < 64 ? name.len : 64), name.text);
    if (!c->model)
        return several_fit(s, source, target)
                   ? rela_fail(err, RELA_FORMAT,
                               "several models fit: name source and target; see /languages")
                   : not_supported((rela_span){ NULL, 0 }, source, target, err);
    c->model->references++;
    c->detected = is_auto(source);
    if (c->model->shape.sources > 1)
        return rela_fail(err, RELA_FORMAT, "models with several sources are not served");
    return RELA_OK;
}

/* ---- options ---- */

static rela_status read_common(rela_call *c, const rela_service *s, const rela_exchange *x,
                               const rela_fields *f, rela_error *err)
{
    const rela_span header = rela_http_field_get(&x->head, "x-timeout-ms");
    double seconds = s->options.deadline, ms = 0;
    char text[32] = "";
    rela_status st = RELA_OK;
    if (header.text && header.len < sizeof text) {
        memcpy(text, header.text, header.len);
        if (!rela_parse_f64(&ms, text) || ms <= 0)
            st = rela_fail(err, RELA_FORMAT, "X-Timeout-Ms: expected a number above 0");
    }
    st = st ? st : rela_fields_real(&ms, f, "timeout_ms", 1, 1e9, err);
    seconds = ms > 0 ? ms / 1000 : seconds;
    c->deadline = s->now + (seconds < s->options.deadline_max ? seconds : s->options.deadline_max);
    const rela_span format = rela_fields_get(f, "format"),
                    tags = rela_fields_get(f, "tag_handling");
    c->html = c->form == RELA_INTERFACE_DEEPL
                  ? rela_span_is(tags, "html") || rela_span_is(tags, "xml")
                  : rela_span_is(format, "html");
    if (st == RELA_OK && c->form != RELA_INTERFACE_DEEPL && format.len && !c->html &&
        !rela_span_is(format, "text"))
        st = rela_fail(err, RELA_FORMAT, "format: expected text or html");
    if (c->html) {
        c->wants |= RELA_WANT_LINKS;
        c->options.attention = true;
    }
    if (st == RELA_OK && c->form == RELA_INTERFACE_LIBRE)
        st = rela_fields_int(&c->alternatives, f, "alternatives", 0, BEAM_MAX - 1, err);
    if (c->alternatives > 0) {
        c->options.n_best = c->alternatives + 1;
        c->options.beam_size = c->options.n_best > BEAM ? c->options.n_best : BEAM;
    }
    return st;
}

static rela_status read_want(rela_call *c, const rela_fields *f, const char *name, int bit,
                             rela_error *err)
{
    bool yes = false;
    const rela_status st = rela_fields_flag(&yes, f, name, err);
    c->wants |= yes ? bit : 0;
    return st;
}

static rela_status read_own(rela_call *c, const rela_fields *f, rela_error *err)
{
    static const struct {
        const char *name;
        int bit;
    } WANTS[] = { { "tokens", RELA_WANT_TOKENS },
                  { "links", RELA_WANT_LINKS },
                  { "attention", RELA_WANT_ATTENTION },
                  { "null_rate", RELA_WANT_NULL_RATE },
                  { "warnings", RELA_WANT_WARNINGS } };
    rela_translate_options *o = &c->options;
    int32_t seed = 1;
    rela_status st = rela_fields_int(&o->beam_size, f, "beam", 1, BEAM_MAX, err);
    st = st ? st : rela_fields_int(&o->n_best, f, "n_best", 1, BEAM_MAX, err);
    st = st ? st : rela_fields_real(&o->length_penalty, f, "length_penalty", -100, 100, err);
    st = st ? st : rela_fields_real(&o->max_factor, f, "max_length_factor", 0, 100, err);
    st = st ? st : rela_fields_int(&o->max_extra, f, "max_length_extra", 0, LENGTH_MAX, err);
    st = st ? st : rela_fields_real(&o->temperature, f, "temperature", 1e-6, 1e6, err);
    st = st ? st : rela_fields_int(&seed, f, "seed", 0, INT32_MAX, err);
    st = st ? st : rela_fields_flag(&c->stream, f, "stream", err);
    o->seed = (uint64_t)seed;
    for (size_t i = 0; i < sizeof WANTS / sizeof *WANTS && st == RELA_OK; i++)
        st = read_want(c, f, WANTS[i].name, WANTS[i].bit, err);
    const rela_span unk = rela_fields_get(f, "unk"), sampling = rela_fields_get(f, "sampling");
    if (st == RELA_OK && unk.text) {
        o->unk = rela_span_is(unk, "forbid")    ? RELA_UNK_FORBID
                 : rela_span_is(unk, "replace") ? RELA_UNK_REPLACE
                                                : RELA_UNK_ALLOW;
        if (o->unk == RELA_UNK_ALLOW && !rela_span_is(unk, "allow"))
            st = rela_fail(err, RELA_FORMAT, "unk: expected allow, forbid or replace");
    }
    if (st == RELA_OK && sampling.text)
        st = read_sampling(c, sampling, err);
    if (st == RELA_OK && !sampling.text && o->n_best > o->beam_size)
        st = rela_fail(err, RELA_FORMAT, "n_best %d is more than beam %d", (int)o->n_best,
                       (int)o->beam_size);
    if (st == RELA_OK && c->stream && c->html)
        st = rela_fail(err, RELA_FORMAT, "stream does not go with html");
    o->attention = (c->wants & (RELA_WANT_LINKS | RELA_WANT_ATTENTION | RELA_WANT_NULL_RATE)) != 0;
    return st;
}

static rela_status read_sampling(rela_call *c, rela_span text, rela_error *err)
{
    rela_translate_options *o = &c->options;
    char copy[32] = "";
    int64_t k = 0;
    o->method = RELA_SEARCH_SAMPLE;
    if (text.len < sizeof copy)
        memcpy(copy, text.text, text.len);
    if (strcmp(copy, "full") == 0)
        return RELA_OK;
    if (strncmp(copy, "top:", 4) == 0 && rela_parse_i64(&k, copy + 4) && k >= 1 && k <= INT32_MAX) {
        o->top_k = (int32_t)k;
        return RELA_OK;
    }
    if (strncmp(copy, "nucleus:", 8) == 0 && rela_parse_f64(&o->top_p, copy + 8) && o->top_p > 0 &&
        o->top_p <= 1)
        return RELA_OK;
    return rela_fail(err, RELA_FORMAT, "sampling: expected full, top:K or nucleus:P");
}

/* ---- texts ---- */

/* Line ends of forms are CRLF by their standard: they become LF. */
static rela_status normalise_lines(rela_buffer *out, rela_span text, rela_error *err)
{
    size_t n = 0;
    rela_buffer_clear(out);
    const rela_status st = rela_buffer_append(out, text.len ? text.text : "", text.len, err);
    for (size_t i = 0; i < text.len && st == RELA_OK; i++)
        if (text.text[i] != '\r' || i + 1 == text.len || text.text[i + 1] != '\n')
            out->data[n++] = text.text[i];
    out->len = n;
    return st;
}

static rela_status read_prefix(rela_call *c, const rela_fields *f, rela_error *err)
{
    const rela_span prefix = rela_fields_get(f, "prefix");
    if (!prefix.len || c->form != RELA_INTERFACE_OWN)
        return RELA_OK;
    if (c->text.n_texts != 1 || c->text.n_sentences != 1)
        return rela_fail(err, RELA_FORMAT, "prefix: expected one text");
    const rela_status st = rela_buffer_append(&c->prefix, prefix.text, prefix.len, err);
    c->prefix_text = c->prefix.data;
    c->prefix_len = c->prefix.len;
    c->options.prefix = &c->prefix_text;
    c->options.prefix_len = &c->prefix_len;
    return st;
}

static rela_status read_texts(rela_call *c, const rela_service *s, const rela_fields *f,
                              int *status, rela_error *err)
{
    const char *name = c->form == RELA_INTERFACE_LIBRE ? "q" : "text";
    const size_t n = rela_fields_count(f, name);
    const bool whole = rela_fields_get(f, "prefix").len > 0 && c->form == RELA_INTERFACE_OWN;
    const rela_span split = rela_fields_get(f, "split");
    const bool lines = c->form == RELA_INTERFACE_OWN && rela_span_is(split, "never");
    if (c->form == RELA_INTERFACE_OWN && split.text && !lines && !rela_span_is(split, "auto"))
        return rela_fail(err, RELA_FORMAT, "split: expected auto or never");
    c->listed = rela_fields_listed(f, name);
    if (n == 0 || (!c->listed && rela_fields_get(f, name).len == 0))
        return rela_fail(err, RELA_FORMAT, "Invalid request: missing %s parameter", name);
    if (n > s->options.texts) {
        *status = 400;
        return rela_fail(err, RELA_FORMAT,
                         "Invalid request: request (%zu) exceeds text limit (%zu)", n,
                         s->options.texts);
    }
    rela_status st = RELA_OK;
    rela_buffer lf = RELA_BUFFER_INIT;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        const rela_field *field = rela_fields_at(f, name, i);
        rela_span text = field->value;
        if (field->form) {
            st = normalise_lines(&lf, text, err);
            text = (rela_span){ lf.data, lf.len };
        }
        const rela_splitter *splitter = lines ? NULL : c->model->splitter;
        const char *first = text.len ? text.text : "";
        if (st == RELA_OK && c->html)
            st = rela_markup_add(&c->text, first, text.len, splitter, err);
        else if (st == RELA_OK)
            st = rela_passages_add(&c->text, first, text.len, splitter, whole, err);
    }
    rela_buffer_free(&lf);
    return st ? st : read_prefix(c, f, err);
}
