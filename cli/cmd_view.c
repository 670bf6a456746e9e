/* SPDX-License-Identifier: MIT */
/* cli/cmd_view.c - rela view: the attention viewer, one HTML page to open in a browser. */
#include "cli.h"
#include "display_names.h"
#include "models.h"

#include "base/line_rows.h"
#include "base/mem.h"
#include "base/textlines.h"
#include "rela/view.h"

#include <string.h>

typedef struct view_options {
    const char *src, *src_2, *src_3, *src_4, *tgt, *n_best, *gold, *output, *title, *form;
    int64_t gold_base, limit;
    bool gold_reverse, worth;
    rela_list names;
} view_options;

#define AT(member) offsetof(view_options, member)

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "src", 's', RELA_OPTION_FILE, AT(src), 0, 0, NULL, "FILE", "source text" },
    { "tgt", 0, RELA_OPTION_FILE, AT(tgt), 0, 0, NULL, "FILE", "target text, parallel to the source text: translations or references" },
    { "n-best", 0, RELA_OPTION_FILE, AT(n_best), 0, 0, NULL, "FILE", "instead of --tgt: n-best lists as rela translate --n-best writes them" },
    { "src-2", 0, RELA_OPTION_FILE, AT(src_2), 0, 0, NULL, "FILE", "text of a second source, if the models have one; lines may be empty" },
    { "src-3", 0, RELA_OPTION_FILE, AT(src_3), 0, 0, NULL, "FILE", "text of a third source" },
    { "src-4", 0, RELA_OPTION_FILE, AT(src_4), 0, 0, NULL, "FILE", "text of a fourth source" },
    { "output", 'o', RELA_OPTION_OUTPUT, AT(output), 0, 0, NULL, "FILE", "the page; - is standard output" },
    { "gold", 0, RELA_OPTION_FILE, AT(gold), 0, 0, NULL, "FILE", "gold links of the first lines" },
    { "gold-base", 0, RELA_OPTION_INT, AT(gold_base), 0, 1, "0", "0|1", "number of the first word in the gold links" },
    { "gold-reverse", 0, RELA_OPTION_FLAG, AT(gold_reverse), 0, 0, NULL, NULL, "gold links have the target word first" },
    { "limit", 'n', RELA_OPTION_INT, AT(limit), 0, 1e9, "100", "N", "only the first N lines; 0: all" },
    { "worth", 0, RELA_OPTION_FLAG, AT(worth), 0, 0, NULL, NULL, "also what each source word and each head is worth; slow" },
    { "names", 0, RELA_OPTION_LIST, AT(names), 0, 0, NULL, "NAME", "name of a model on the page; once for each model [from its path]" },
    { "title", 0, RELA_OPTION_TEXT, AT(title), 0, 0, NULL, "TEXT", "title of the page [from the names of the texts]" },
    { "export", 0, RELA_OPTION_CHOICE, AT(form), 0, 0, "page", "page|document|inseq", "the page, its data as JSON, or what inseq loads" },
    { .name = NULL },
};
/* clang-format on */

enum { TITLE_SIZE = 256, SOURCES = RELA_SOURCES_MAX, NAME_SIZE = RELA_CLI_DISPLAY_NAME };

static const char *const NEEDS[] = { "gold-base", "gold", "gold-reverse", "gold", NULL };

static rela_status run(rela_cli *cli, void *options, rela_error *err);

const rela_command rela_commands_view[] = {
    { .name = "view",
      .summary = "show attention in a browser, as one HTML page",
      .operands = "MODEL... --src FILE --tgt FILE -o PAGE | FILE -o PAGE",
      .min_operands = 1,
      .max_operands = RELA_CLI_MODELS_MAX,
      .description =
          "Writes a page that shows what every head of each model looked at: sentence by\n"
          "sentence, with exact zeros, rows that look at nothing, words that may be missing or\n"
          "made up, word links, and all sentences at once. The page is one file, which needs no\n"
          "other file and no network; open it in a browser. Several models are shown side by\n"
          "side. Instead of models, the operand may be attention that another program has\n"
          "written: lines of Marian's --alignment soft (with --src and --tgt), a JSON file of\n"
          "inseq, or what rela analyse --dump writes.",
      .examples =
          "rela view run/model.rela --src test.en --tgt test.de -o view.html\n"
          "rela view softmax.rela rela-g.rela --src a.en --tgt a.de --gold a.links -o both.html\n"
          "rela view alignment.txt --src a.en --tgt a.de -o marian.html",
      .options = OPTIONS,
      .options_size = sizeof(view_options),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

/* The texts of a page. */
typedef struct texts {
    rela_text_lines src[SOURCES], tgt, gold;
    size_t n;
    const char **sources;
    size_t *lens;
    rela_view_target *targets;
    size_t n_targets;
    const char **gold_lines;
    char *gold_text;
} texts;

static rela_status view_models(rela_cli *cli, const view_options *o, rela_buffer *page,
                               rela_error *err);
static rela_status view_file(rela_cli *cli, const view_options *o, rela_buffer *page,
                             rela_error *err);
static rela_status read_texts(texts *t, rela_cli *cli, const view_options *o, size_t n_sources,
                              rela_error *err);
static void free_texts(texts *t);

static rela_status check(const rela_cli *cli, const view_options *o, bool models, rela_error *err)
{
    if (!o->output)
        return rela_fail(err, RELA_ARG, "--output is needed");
    if (models && (!o->src || !(o->tgt || o->n_best)))
        return rela_fail(err, RELA_ARG, "--src and --tgt (or --n-best) are needed");
    if (o->tgt && o->n_best)
        return rela_fail(err, RELA_ARG, "--tgt and --n-best exclude each other");
    if (!models && (cli->operands.n > 1 || o->n_best || o->worth || o->names.n))
        return rela_fail(
            err, RELA_ARG,
            "%s is no model: it is shown by itself, without --n-best, --worth, --names",
            cli->operands.items[0]);
    if (o->names.n && o->names.n != cli->operands.n)
        return rela_fail(err, RELA_ARG, "%zu name%s for %zu model%s", o->names.n,
                         rela_plural(o->names.n), cli->operands.n, rela_plural(cli->operands.n));
    return RELA_OK;
}

static int32_t form_of(const char *name)
{
    return strcmp(name, "inseq") == 0      ? RELA_VIEW_INSEQ
           : strcmp(name, "document") == 0 ? RELA_VIEW_DOCUMENT
                                           : RELA_VIEW_PAGE;
}

/* A file that is there and is no model holds attention; anything else is the name of a model. */
static bool names_model(const char *operand)
{
    return rela_dir_exists(operand) || !rela_file_exists(operand) || rela_cli_is_model(operand);
}

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const view_options *o = options;
    const bool models = names_model(cli->operands.items[0]);
    rela_buffer page = RELA_BUFFER_INIT;
    rela_status st = check(cli, o, models, err);
    if (st == RELA_OK)
        st = models ? view_models(cli, o, &page, err) : view_file(cli, o, &page, err);
    if (st == RELA_OK)
        st = rela_file_write(o->output, page.data, page.len, err);
    rela_buffer_free(&page);
    return st;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void make_title(char *out, const view_options *o, const char *from)
{
    if (o->title)
        rela_format_text(out, TITLE_SIZE, "%s", o->title);
    else if (o->src)
        rela_format_text(out, TITLE_SIZE, "Attention on %s", base_of(o->src));
    else
        rela_format_text(out, TITLE_SIZE, "Attention in %s", base_of(from));
}

static rela_status view_file(rela_cli *cli, const view_options *o, rela_buffer *page,
                             rela_error *err)
{
    char title[TITLE_SIZE];
    make_title(title, o, cli->operands.items[0]);
    const rela_view_import from = { .struct_size = sizeof from,
                                    .path = cli->operands.items[0],
                                    .src = o->src,
                                    .tgt = o->tgt,
                                    .gold = o->gold,
                                    .gold_base = (int32_t)o->gold_base,
                                    .gold_reverse = o->gold_reverse,
                                    .limit = (uint64_t)o->limit,
                                    .title = title,
                                    .form = form_of(o->form) };
    return rela_view_open(page, &from, err);
}

static rela_status view_models(rela_cli *cli, const view_options *o, rela_buffer *page,
                               rela_error *err)
{
    static char names[RELA_CLI_MODELS_MAX][NAME_SIZE];
    const char *list[RELA_CLI_MODELS_MAX];
    char title[TITLE_SIZE];
    rela_cli_models m = { .input = "--src and --tgt" };
    rela_model_shape shape = { .struct_size = sizeof shape };
    rela_cli_bar bar = { .cli = cli, .label = "viewing", .unit = "sentences" };
    texts t = { .n = 0 };
    rela_view_options v;
    rela_status st = rela_cli_models_load(&m, cli, cli->operands.items, cli->operands.n, err);
    st = st ? st : rela_model_shape_get(&shape, m.models[0], err);
    st = st ? st : read_texts(&t, cli, o, (size_t)shape.sources, err);
    rela_cli_display_names(names, cli->operands.items, cli->operands.n);
    for (size_t i = 0; i < cli->operands.n; i++)
        list[i] = o->names.n ? o->names.items[i] : names[i];
    make_title(title, o, cli->operands.items[0]);
    rela_view_options_init(&v, sizeof v);
    v.title = title;
    v.names = list;
    v.gold_base = (int32_t)o->gold_base;
    v.gold_reverse = o->gold_reverse;
    v.worth = o->worth;
    v.form = form_of(o->form);
    v.progress = rela_cli_log;
    v.progress_ctx = &bar;
    const rela_view_text text = { .struct_size = sizeof text,
                                  .src = t.sources,
                                  .src_lens = t.lens,
                                  .n = t.n,
                                  .targets = t.targets,
                                  .n_targets = t.n_targets,
                                  .gold = t.gold_lines,
                                  .n_gold = t.gold_lines ? t.gold.n : 0 };
    const rela_model *models[RELA_CLI_MODELS_MAX];
    for (size_t i = 0; i < m.n; i++)
        models[i] = m.models[i];
    st = st ? st : rela_view(page, models, m.n, &text, &v, err);
    free_texts(&t);
    rela_cli_models_close(&m);
    return st;
}

/* ---- texts ---- */

static void free_texts(texts *t)
{
    for (int i = 0; i < SOURCES; i++)
        rela_text_lines_free(&t->src[i]);
    rela_text_lines_free(&t->tgt);
    rela_text_lines_free(&t->gold);
    rela_mem_free(t->sources);
    rela_mem_free(t->lens);
    rela_mem_free(t->targets);
    rela_mem_free(t->gold_lines);
    rela_mem_free(t->gold_text);
}

static rela_status read_sources(texts *t, const char *const *paths, size_t n_sources, int64_t limit,
                                rela_error *err)
{
    for (size_t k = 0; k < SOURCES; k++) {
        if ((paths[k] != NULL) != (k < n_sources))
            return rela_fail(err, RELA_ARG, "%zu source text%s needed; see --src and --src-2",
                             n_sources, n_sources == 1 ? " is" : "s are");
        const rela_status st = paths[k] ? rela_text_lines_read(&t->src[k], paths[k], err) : RELA_OK;
        if (st != RELA_OK)
            return st;
        if (paths[k] && t->src[k].n != t->src[0].n)
            return rela_fail(err, RELA_FORMAT, "%s has %zu line%s but %s has %zu", paths[0],
                             t->src[0].n, rela_plural(t->src[0].n), paths[k], t->src[k].n);
    }
    t->n = limit && (uint64_t)limit < t->src[0].n ? (size_t)limit : t->src[0].n;
    if (t->n == 0)
        return rela_fail(err, RELA_FORMAT, "%s: no lines", paths[0]);
    t->sources = rela_mem_array(t->n * n_sources, sizeof *t->sources);
    t->lens = rela_mem_array(t->n * n_sources, sizeof *t->lens);
    if (!t->sources || !t->lens)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu lines", t->n);
    for (size_t i = 0; i < t->n * n_sources; i++) {
        const rela_span line = t->src[i % n_sources].items[i / n_sources];
        t->sources[i] = line.len ? line.text : "";
        t->lens[i] = line.len;
    }
    return RELA_OK;
}

static rela_status read_targets(texts *t, const view_options *o, rela_error *err)
{
    rela_status st = rela_text_lines_read(&t->tgt, o->tgt, err);
    if (st == RELA_OK && t->tgt.n != t->src[0].n)
        st = rela_fail(err, RELA_FORMAT, "%s has %zu line%s but %s has %zu", o->src, t->src[0].n,
                       rela_plural(t->src[0].n), o->tgt, t->tgt.n);
    if (st != RELA_OK)
        return st;
    for (size_t i = 0; i < t->n; i++)
        t->targets[i] = (rela_view_target){ .sentence = i,
                                            .text = t->tgt.items[i].len ? t->tgt.items[i].text : "",
                                            .len = t->tgt.items[i].len };
    t->n_targets = t->n;
    return RELA_OK;
}

/* The next part of a line between " ||| "; false at the end. */
static bool next_part(rela_span *part, rela_span *rest)
{
    static const char BETWEEN[] = "|||";
    if (!rest->text)
        return false;
    const char *end = memmem(rest->text, rest->len, BETWEEN, 3);
    *part = rela_trim((rela_span){ rest->text, end ? (size_t)(end - rest->text) : rest->len });
    *rest = end ? (rela_span){ end + 3, rest->len - (size_t)(end + 3 - rest->text) }
                : (rela_span){ NULL, 0 };
    return true;
}

/* "0 ||| translation ||| ... ||| score": the last part is the score. */
static rela_status read_entry(rela_view_target *to, rela_span line, rela_error *err)
{
    rela_span part, rest = line, last = { NULL, 0 };
    char text[32];
    int64_t number = -1;
    size_t n = 0;
    for (; next_part(&part, &rest); n++) {
        if (n == 1) {
            to->text = part.len ? part.text : "";
            to->len = part.len;
        }
        if (n == 0 && part.len < sizeof text) {
            rela_format_text(text, sizeof text, "%.*s", (int)part.len, part.text);
            if (!rela_parse_i64(&number, text))
                number = -1;
        }
        last = part;
    }
    if (n < 2 || number < 0)
        return rela_fail(err, RELA_FORMAT,
                         "no entry of an n-best list; expected NUMBER ||| TEXT ||| ... ||| SCORE");
    to->sentence = (size_t)number;
    if (n > 2 && last.len < sizeof text) {
        rela_format_text(text, sizeof text, "%.*s", (int)last.len, last.text);
        to->scored = rela_parse_f64(&to->score, text);
    }
    return RELA_OK;
}

static rela_status read_n_best(texts *t, const view_options *o, rela_error *err)
{
    rela_status st = rela_text_lines_read(&t->tgt, o->n_best, err);
    rela_mem_free(t->targets);
    t->targets = st == RELA_OK ? rela_mem_zalloc((t->tgt.n + 1) * sizeof *t->targets) : NULL;
    if (st == RELA_OK && !t->targets)
        st = rela_fail(err, RELA_NOMEM, "no memory for %zu lines", t->tgt.n);
    size_t before = 0;
    for (size_t i = 0; i < t->tgt.n && st == RELA_OK; i++) {
        rela_view_target *to = &t->targets[t->n_targets];
        st = rela_fail_at(err, read_entry(to, t->tgt.items[i], err), o->n_best, i + 1);
        if (st == RELA_OK && (to->sentence >= t->src[0].n || to->sentence < before))
            st = rela_fail(err, RELA_FORMAT, "%s: line %zu: sentence %zu; expected %zu to %zu",
                           o->n_best, i + 1, to->sentence, before, t->src[0].n - 1);
        before = to->sentence;
        t->n_targets += st == RELA_OK && to->sentence < t->n;
    }
    return st;
}

static rela_status read_gold(texts *t, const view_options *o, rela_error *err)
{
    rela_status st = rela_text_lines_read(&t->gold, o->gold, err);
    if (st == RELA_OK && t->gold.n > t->src[0].n)
        st = rela_fail(err, RELA_FORMAT, "%s has %zu line%s but %s has %zu", o->src, t->src[0].n,
                       rela_plural(t->src[0].n), o->gold, t->gold.n);
    size_t bytes = 1;
    for (size_t i = 0; i < t->gold.n; i++)
        bytes += t->gold.items[i].len + 1;
    t->gold_lines = st == RELA_OK ? rela_mem_array(t->gold.n + 1, sizeof *t->gold_lines) : NULL;
    t->gold_text = st == RELA_OK ? rela_mem_alloc(bytes) : NULL;
    if (st == RELA_OK && (!t->gold_lines || !t->gold_text))
        st = rela_fail(err, RELA_NOMEM, "no memory for gold links");
    char *at = t->gold_text;
    for (size_t i = 0; i < t->gold.n && st == RELA_OK; i++) {
        const rela_span line = t->gold.items[i];
        t->gold_lines[i] = at;
        if (line.len)
            memcpy(at, line.text, line.len);
        at[line.len] = '\0';
        at += line.len + 1;
    }
    return st;
}

static rela_status read_texts(texts *t, rela_cli *cli, const view_options *o, size_t n_sources,
                              rela_error *err)
{
    const char *const paths[] = { o->src, o->src_2, o->src_3, o->src_4 };
    const char *const inputs[] = { o->src, o->src_2, o->src_3, o->src_4, o->tgt, o->n_best };
    rela_cli_typed_text(cli, inputs, sizeof inputs / sizeof inputs[0]);
    rela_status st = read_sources(t, paths, n_sources, o->limit, err);
    if (st != RELA_OK)
        return st;
    t->targets = rela_mem_zalloc(t->n * sizeof *t->targets);
    if (!t->targets)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu lines", t->n);
    st = o->n_best ? read_n_best(t, o, err) : read_targets(t, o, err);
    return st == RELA_OK && o->gold ? read_gold(t, o, err) : st;
}
