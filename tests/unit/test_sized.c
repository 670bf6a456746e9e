/* SPDX-License-Identifier: MIT */
/* tests/unit/test_sized.c - structs that begin with their size, where models are used or made. */
#include "api_model.h"
#include "rela/analyse.h"
#include "rela/async.h"
#include "rela/attention.h"
#include "rela/job.h"
#include "rela/model.h"
#include "rela/train.h"
#include "rela/view.h"
#include "sized.h"

enum { WIDE = 4 };

static world w;
static rela_attention *op;
static char src[SCRATCH_PATH], tgt[SCRATCH_PATH], out[SCRATCH_PATH];

/* ---- translate.h ---- */

static rela_status runtime_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_runtime_options, rela_runtime_options_init);
    rela_runtime *made = NULL;
    const rela_status st = rela_runtime_create(&made, &s.o, err);
    rela_runtime_destroy(made);
    return st;
}

static rela_status model_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_model_options, rela_model_options_init);
    rela_model *made = NULL;
    const rela_status st = rela_model_load_with(&made, w.runtime, path, &s.o, err);
    rela_model_free(made);
    return st;
}

static rela_status model_shape(size_t size, rela_error *err)
{
    SIZED_REPORT(rela_model_shape);
    return sized_written(rela_model_shape_get(&s.o, w.model, err), &s, size, sizeof s);
}

static rela_status translate_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_translate_options, rela_translate_options_init);
    rela_result *made = NULL;
    const rela_status st = rela_translate(&made, w.session, texts, NULL, 2, &s.o, err);
    rela_result_free(made);
    return st;
}

static rela_status link_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_link_options, rela_link_options_init);
    rela_buffer links = RELA_BUFFER_INIT;
    rela_result *made = NULL;
    rela_translate_options o;
    rela_translate_options_init(&o, sizeof o);
    o.attention = 1;
    CHECK_OK(rela_translate(&made, w.session, texts, NULL, 1, &o, err), *err);
    const rela_status st = rela_result_links(&links, made, 0, 0, &s.o, err);
    rela_buffer_free(&links);
    rela_result_free(made);
    return st;
}

static rela_status score_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_score_options, rela_score_options_init);
    const rela_pairs pairs = { .src = texts, .tgt = texts, .n = 2 };
    rela_scores *made = NULL;
    const rela_status st = rela_score(&made, w.session, &pairs, &s.o, err);
    rela_scores_free(made);
    return st;
}

/* ---- analyse.h ---- */

static int ignore_line(void *ctx, const rela_aligned *line)
{
    (void)ctx, (void)line;
    return 0;
}

static rela_status align_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_align_options, rela_align_options_init);
    s.o.src = src;
    s.o.tgt = tgt;
    return rela_align(NULL, w.model, &s.o, ignore_line, NULL, err);
}

static rela_status align_report(size_t size, rela_error *err)
{
    SIZED_REPORT(rela_align_report);
    rela_align_options o;
    rela_align_options_init(&o, sizeof o);
    o.src = src;
    o.tgt = tgt;
    return sized_written(rela_align(&s.o, w.model, &o, ignore_line, NULL, err), &s, size, sizeof s);
}

static rela_status shortlist_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_shortlist_options, rela_shortlist_options_init);
    s.o.src = src;
    s.o.tgt = tgt;
    s.o.out = out;
    return rela_shortlist_learn(NULL, w.model, &s.o, err);
}

static rela_status shortlist_report(size_t size, rela_error *err)
{
    SIZED_REPORT(rela_shortlist_report);
    rela_shortlist_options o;
    rela_shortlist_options_init(&o, sizeof o);
    o.src = src;
    o.tgt = tgt;
    o.out = out;
    return sized_written(rela_shortlist_learn(&s.o, w.model, &o, err), &s, size, sizeof s);
}

static rela_status analyse_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_analyse_options, rela_analyse_options_init);
    const rela_model *const models[] = { w.model };
    s.o.src = src;
    s.o.tgt = tgt;
    s.o.out = scratch("analysis");
    return rela_analyse(NULL, NULL, models, 1, &s.o, err);
}

static rela_status filter_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_filter_options, rela_filter_options_init);
    s.o.src = src;
    s.o.tgt = tgt;
    return rela_filter(NULL, NULL, &s.o, err);
}

static rela_status filter_report(size_t size, rela_error *err)
{
    SIZED_REPORT(rela_filter_report);
    rela_filter_options o;
    rela_filter_options_init(&o, sizeof o);
    o.src = src;
    o.tgt = tgt;
    return sized_written(rela_filter(&s.o, NULL, &o, err), &s, size, sizeof s);
}

static rela_status filter_table(size_t size, rela_error *err)
{
    SIZED_SHOWN(rela_filter_report, rela_filter_report_table(&text, &s.o, err));
}

static rela_status filter_json(size_t size, rela_error *err)
{
    SIZED_SHOWN(rela_filter_report, rela_filter_report_json(&text, &s.o, err));
}

/* ---- job.h ---- */

static rela_status job_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_job_options, rela_job_options_init);
    rela_job *made = NULL;
    const rela_status st = rela_job_open(&made, &s.o, err);
    return rela_job_close(made, st, err);
}

/* ---- attention.h ---- */

static rela_status attention_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_attention_options, rela_attention_options_init);
    rela_attention *made = NULL;
    s.o.max_length = WIDE;
    const rela_status st = rela_attention_create(&made, &s.o, err);
    rela_attention_destroy(made);
    return st;
}

static rela_status attention_number(size_t size, rela_error *err)
{
    SIZED_REPORT(rela_attention_number);
    rela_status st = RELA_ARG;
    for (size_t i = 0; rela_attention_name(i) && st == RELA_ARG && size; i++)
        st = rela_attention_number_get(&s.o, i, 0, err);
    return sized_written(size ? st : rela_attention_number_get(&s.o, 0, 0, err), &s, size,
                         sizeof s);
}

static rela_status attention_learned(size_t size, rela_error *err)
{
    SIZED_REPORT(rela_attention_learned);
    return sized_written(rela_attention_learned_get(&s.o, op, err), &s, size, sizeof s);
}

static float numbers[4][WIDE];

static rela_attention_input plain_input(void)
{
    rela_attention_input in;
    rela_attention_input_init(&in, sizeof in);
    in.n = in.q_step = in.k_step = 1;
    in.q = in.k = in.v = numbers[0];
    return in;
}

static rela_status forward(const rela_attention_input *in, rela_error *err)
{
    rela_attention_output o;
    rela_attention_output_init(&o, sizeof o);
    o.y = numbers[1];
    return rela_attention_forward(&o, op, in, err);
}

static rela_status back(const rela_attention_gradient *g, const rela_attention_input *in,
                        rela_error *err)
{
    rela_attention_gradient plain;
    rela_attention_gradient_init(&plain, sizeof plain);
    plain.dy = numbers[0];
    plain.dq = numbers[1];
    plain.dk = numbers[2];
    plain.dv = numbers[3];
    return rela_attention_back(g ? g : &plain, op, in, err);
}

static rela_status attention_input(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_attention_input, rela_attention_input_init);
    s.o = plain_input();
    s.o.struct_size = size;
    const rela_status st = forward(&s.o, err);
    CHECK(back(NULL, &s.o, err) == st, "forward and back differ");
    return st;
}

static rela_status attention_output(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_attention_output, rela_attention_output_init);
    const rela_attention_input in = plain_input();
    s.o.y = numbers[1];
    return rela_attention_forward(&s.o, op, &in, err);
}

static rela_status attention_gradient(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_attention_gradient, rela_attention_gradient_init);
    const rela_attention_input in = plain_input();
    s.o.dy = numbers[0];
    s.o.dq = numbers[1];
    s.o.dk = numbers[2];
    s.o.dv = numbers[3];
    return back(&s.o, &in, err);
}

/* ---- train.h, model.h ---- */

static rela_status train_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_train_options, rela_train_options_init);
    s.o.preset = "demo";
    s.o.train_src = src;
    s.o.train_tgt = tgt;
    s.o.out = scratch("run");
    s.o.width = WIDE;
    s.o.updates = s.o.merges = 1;
    return rela_train(&s.o, NULL, NULL, err);
}

static rela_status align_learn_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_align_learn_options, rela_align_learn_options_init);
    s.o.src = src;
    s.o.tgt = tgt;
    s.o.updates = 1;
    s.o.threads = 1;
    return rela_align_learn(out, &s.o, err);
}

static rela_status info_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_model_info_options, rela_model_info_options_init);
    rela_buffer text = RELA_BUFFER_INIT;
    const rela_status st = rela_model_info(&text, path, &s.o, err);
    rela_buffer_free(&text);
    return st;
}

static rela_status average_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_model_average_options, rela_model_average_options_init);
    const char *const paths[] = { path };
    return rela_model_average(out, paths, 1, &s.o, err);
}

static rela_status convert_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_model_convert_options, rela_model_convert_options_init);
    return rela_model_convert(out, path, &s.o, err);
}

/* ---- async.h ---- */

static rela_status async_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_async_options, rela_async_options_init);
    const rela_model *const models[] = { w.model };
    rela_async *made = NULL;
    const rela_status st = rela_async_create(&made, models, 1, &s.o, err);
    rela_async_destroy(made);
    return st;
}

static void drop(void *ctx, uint64_t id, rela_result *result, const rela_error *err)
{
    (void)ctx, (void)id, (void)err;
    rela_result_free(result);
}

static rela_status async_request(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_async_request, rela_async_request_init);
    const rela_model *const models[] = { w.model };
    rela_async *made = NULL;
    s.o.texts = texts;
    s.o.on_end = drop;
    CHECK_OK(rela_async_create(&made, models, 1, NULL, err), *err);
    const rela_status st = rela_async_submit(made, NULL, &s.o, err);
    rela_async_destroy(made);
    return st;
}

static rela_status async_load(size_t size, rela_error *err)
{
    SIZED_REPORT(rela_async_load);
    const rela_model *const models[] = { w.model };
    rela_async *made = NULL;
    CHECK_OK(rela_async_create(&made, models, 1, NULL, err), *err);
    const rela_status st = sized_written(rela_async_load_get(&s.o, made, err), &s, size, sizeof s);
    rela_async_destroy(made);
    return st;
}

/* ---- view.h ---- */

static const rela_view_target TARGET = { .text = "a b", .len = 3 };

static rela_status view(const rela_view_text *text, const rela_view_options *o, rela_error *err)
{
    const rela_model *const models[] = { w.model };
    rela_buffer page = RELA_BUFFER_INIT;
    const rela_status st = rela_view(&page, models, 1, text, o, err);
    rela_buffer_free(&page);
    return st;
}

static rela_status view_text(size_t size, rela_error *err)
{
    SIZED_ROOM(rela_view_text);
    memset(&s, 0, sizeof s);
    s.o = (rela_view_text){
        .struct_size = size, .src = texts, .n = 1, .targets = &TARGET, .n_targets = 1
    };
    return view(&s.o, NULL, err);
}

static rela_status view_options(size_t size, rela_error *err)
{
    SIZED_OPTIONS(rela_view_options, rela_view_options_init);
    const rela_view_text text = {
        .struct_size = sizeof text, .src = texts, .n = 1, .targets = &TARGET, .n_targets = 1
    };
    return view(&text, &s.o, err);
}

static rela_status view_import(size_t size, rela_error *err)
{
    char soft_src[SCRATCH_PATH];
    (void)snprintf(soft_src, sizeof soft_src, "%s", spill_text("soft.src", "a b\n"));
    SIZED_ROOM(rela_view_import);
    memset(&s, 0, sizeof s);
    rela_buffer page = RELA_BUFFER_INIT;
    s.o.struct_size = size;
    s.o.path = spill_text("soft", "x y ||| 0.5,0.25,0.25 0,0.75,0.25 0,0,1\n");
    s.o.src = soft_src;
    const rela_status st = rela_view_open(&page, &s.o, err);
    rela_buffer_free(&page);
    return st;
}

/* ---- all of them ---- */

#define ROW(type, run)                                                                             \
    {                                                                                              \
#type, sizeof(type), run                                                                   \
    }

/* clang-format off */
static const sized_row ROWS[] = {
    ROW(rela_runtime_options, runtime_options),
    ROW(rela_model_options, model_options),
    ROW(rela_model_shape, model_shape),
    ROW(rela_translate_options, translate_options),
    ROW(rela_link_options, link_options),
    ROW(rela_score_options, score_options),
    ROW(rela_align_options, align_options),
    ROW(rela_align_report, align_report),
    ROW(rela_shortlist_options, shortlist_options),
    ROW(rela_shortlist_report, shortlist_report),
    ROW(rela_analyse_options, analyse_options),
    ROW(rela_filter_options, filter_options),
    ROW(rela_filter_report, filter_report),
    ROW(rela_filter_report, filter_table),
    ROW(rela_filter_report, filter_json),
    ROW(rela_job_options, job_options),
    ROW(rela_attention_options, attention_options),
    ROW(rela_attention_number, attention_number),
    ROW(rela_attention_learned, attention_learned),
    ROW(rela_attention_input, attention_input),
    ROW(rela_attention_output, attention_output),
    ROW(rela_attention_gradient, attention_gradient),
    ROW(rela_train_options, train_options),
    ROW(rela_align_learn_options, align_learn_options),
    ROW(rela_model_info_options, info_options),
    ROW(rela_model_average_options, average_options),
    ROW(rela_model_convert_options, convert_options),
    ROW(rela_async_options, async_options),
    ROW(rela_async_request, async_request),
    ROW(rela_async_load, async_load),
    ROW(rela_view_text, view_text),
    ROW(rela_view_options, view_options),
    ROW(rela_view_import, view_import),
};
/* clang-format on */

static const char *const HEADERS[] = { "translate", "analyse", "attention", "job",
                                       "model",     "train",   "async",     "view" };
static const char *const FIXED[] = { "rela_pairs",      "rela_attention_row", "rela_aligned",
                                     "rela_head",       "rela_train_event",   "rela_train_text",
                                     "rela_view_target" };

static const sized_rows ALL = { ROWS,    sizeof ROWS / sizeof ROWS[0],
                                HEADERS, sizeof HEADERS / sizeof HEADERS[0],
                                FIXED,   sizeof FIXED / sizeof FIXED[0] };

static void no_struct_is_forgotten(void **state)
{
    (void)state;
    sized_complete(&ALL);
}

static void own_and_earlier_sizes_are_taken(void **state)
{
    (void)state;
    sized_taken(&ALL);
}

static void no_size_and_later_sizes_are_refused(void **state)
{
    (void)state;
    sized_refused(&ALL);
}

static int start(void **state)
{
    rela_attention_options o;
    if (make_model(state) != 0)
        return -1;
    world_start(&w, 1);
    rela_attention_options_init(&o, sizeof o);
    o.kind = "relu";
    o.heads = 1;
    o.head_width = o.max_length = WIDE;
    (void)snprintf(src, sizeof src, "%s", spill_text("src", "a b c .\nd e\n"));
    (void)snprintf(tgt, sizeof tgt, "%s", spill_text("tgt", "a b .\ng h\n"));
    (void)snprintf(out, sizeof out, "%s", scratch("out"));
    return rela_attention_create(&op, &o, NULL);
}

static int end(void **state)
{
    rela_attention_destroy(op);
    world_end(&w);
    return remove_model(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_struct_is_forgotten),
        cmocka_unit_test(own_and_earlier_sizes_are_taken),
        cmocka_unit_test(no_size_and_later_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, start, end);
}
