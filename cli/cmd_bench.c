/* SPDX-License-Identifier: MIT */
/* cli/cmd_bench.c - rela bench: measures the speed of the library on this machine. */
#include "cli.h"

#include "base/str.h"
#include "bench/bench.h"

#include <string.h>

typedef struct bench_options {
    const char *preset, *model, *out;
    rela_list attention, lengths, links;
    int64_t train_length, rounds, slot_tokens;
    double seconds, zeros;
} bench_options;

#define AT(member) offsetof(bench_options, member)

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "preset", 'p', RELA_OPTION_CHOICE, AT(preset), 0, 0, "tiny", "demo|tiny|base|paper", "size of the model" },
    { "model", 'm', RELA_OPTION_FILE, AT(model), 0, 0, NULL, "FILE", "use the sizes of a trained model instead, and its weights in training" },
    { "attention", 'a', RELA_OPTION_LIST, AT(attention), 0, 0, NULL, "KIND", "kind of attention to compare with softmax; may be repeated [all; in models those of the paper's Table 2]" },
    { "length", 'l', RELA_OPTION_LIST, AT(lengths), 0, 0, NULL, "T", "sentence length in tokens for attention kernels; may be repeated [25, 100, 1000, 4000]" },
    { "train-length", 0, RELA_OPTION_INT, AT(train_length), 1, 65536, "25", "T", "sentence length in tokens for training" },
    { "zeros", 0, RELA_OPTION_REAL, AT(zeros), 0, 0.99, "0", "SHARE", "share of attention weights to make zero in training, for kinds with max(0, s); 0: as they are" },
    { "link", 0, RELA_OPTION_LIST, AT(links), 0, 0, NULL, "G", "scale: network speed in Gb/s; may be repeated [1, 10, 100]" },
    { "slot-tokens", 0, RELA_OPTION_INT, AT(slot_tokens), 1, 65536, "512", "N", "scale: target tokens per thread and update" },
    { "rounds", 'r', RELA_OPTION_INT, AT(rounds), 1, 99, "3", "N", "how often each case is measured, in turn" },
    { "seconds", 0, RELA_OPTION_REAL, AT(seconds), 0, 3600, "0.02", "S", "minimum time of one measurement" },
    { "out", 'o', RELA_OPTION_DIR, AT(out), 0, 0, NULL, "DIR", "directory for bench.json, a TSV file per table, and figures" },
    { .name = NULL },
};
/* clang-format on */

/* clang-format off */
static const char *const NEEDS[] = {
    "link", "PART=scale",
    "slot-tokens", "PART=scale",
    NULL,
};
/* clang-format on */

enum { LENGTHS_MAX = 16, LINKS_MAX = 8 };

static rela_status run(rela_cli *cli, void *options, rela_error *err);

const rela_command rela_commands_bench[] = {
    { .name = "bench",
      .summary = "measure the speed of the library on this machine",
      .operands = "[train|translate|attention|all|scale]",
      .max_operands = 1,
      .description =
          "Measures the peak of the machine and, as shares of it, matrix products in the shapes "
          "of\n"
          "the model, every kind of attention by length, training updates, and translation in\n"
          "fp32 and int8. Prints the paper's Table 2 (speed relative to softmax), Fig. 2 (speed\n"
          "by source length) and Table 4 (operations and time) next to its own results. Weights\n"
          "and tokens are random (--seed), so no text is needed. Every round measures all cases;\n"
          "results are medians with lowest and highest. Takes a minute or two with the defaults.\n"
          "scale measures the parts of an update and forecasts training on 2 to 256 machines like\n"
          "this one, with links of 1, 10 and 100 Gb/s (--link).",
      .examples = "rela bench\n"
                  "rela bench attention --length 100 --attention rela-g\n"
                  "rela bench all --preset base --rounds 5 --out figures\n"
                  "rela bench train --json --threads 1",
      .options = OPTIONS,
      .options_size = sizeof(bench_options),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

static rela_status take_part(int32_t *parts, const rela_list *operands, rela_error *err);
static rela_status take_lengths(uint32_t *out, const rela_list *texts, rela_error *err);
static rela_status take_links(double *out, const rela_list *texts, rela_error *err);

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const bench_options *o = options;
    uint32_t lengths[LENGTHS_MAX];
    double links[LINKS_MAX];
    rela_cli_bar bar = { .cli = cli, .label = "measuring", .unit = "cases" };
    rela_buffer table = RELA_BUFFER_INIT, json = RELA_BUFFER_INIT;
    rela_bench_options b;
    rela_bench_options_init(&b, sizeof b);
    rela_status st = take_part(&b.parts, &cli->operands, err);
    st = st ? st : take_lengths(lengths, &o->lengths, err);
    st = st ? st : take_links(links, &o->links, err);
    if (st != RELA_OK)
        return st;
    b.preset = o->preset;
    b.model = o->model;
    b.kinds = o->attention.items;
    b.n_kinds = o->attention.n;
    b.lengths = lengths;
    b.n_lengths = o->lengths.n;
    b.links = links;
    b.n_links = o->links.n;
    b.slot_tokens = (int32_t)o->slot_tokens;
    b.train_length = (int32_t)o->train_length;
    b.n_threads = (int32_t)cli->common.threads;
    b.rounds = (int32_t)o->rounds;
    b.seconds = o->seconds;
    b.zeros = o->zeros;
    b.seed = (uint64_t)cli->common.seed;
    b.out = o->out;
    b.progress = rela_cli_log;
    b.progress_ctx = &bar;
    st = rela_bench(&table, &json, &b, err);
    st = st ? st : rela_cli_print(cli->common.json ? &json : &table, err);
    rela_buffer_free(&table);
    rela_buffer_free(&json);
    return st;
}

static rela_status take_part(int32_t *parts, const rela_list *operands, rela_error *err)
{
    static const struct {
        const char *name;
        int32_t parts;
    } PARTS[] = { { "train", RELA_BENCH_TRAIN },
                  { "translate", RELA_BENCH_TRANSLATE },
                  { "attention", RELA_BENCH_ATTENTION },
                  { "all", RELA_BENCH_ALL },
                  { "scale", RELA_BENCH_SCALE } };
    if (operands->n == 0)
        return RELA_OK;
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        if (strcmp(PARTS[i].name, operands->items[0]) == 0) {
            *parts = PARTS[i].parts;
            return RELA_OK;
        }
    return rela_fail(err, RELA_ARG,
                     "cannot measure '%s'; expected train, translate, attention, all or scale",
                     operands->items[0]);
}

static rela_status take_lengths(uint32_t *out, const rela_list *texts, rela_error *err)
{
    if (texts->n > LENGTHS_MAX)
        return rela_fail(err, RELA_ARG, "%zu lengths; expected at most %d", texts->n,
                         (int)LENGTHS_MAX);
    for (size_t i = 0; i < texts->n; i++) {
        int64_t x = 0;
        if (!rela_parse_i64(&x, texts->items[i]) || x < 1 || x > 65536)
            return rela_fail(err, RELA_ARG, "--length '%s'; expected a number 1..65536",
                             texts->items[i]);
        out[i] = (uint32_t)x;
    }
    return RELA_OK;
}

static rela_status take_links(double *out, const rela_list *texts, rela_error *err)
{
    if (texts->n > LINKS_MAX)
        return rela_fail(err, RELA_ARG, "%zu links; expected at most %d", texts->n, (int)LINKS_MAX);
    for (size_t i = 0; i < texts->n; i++)
        if (!rela_parse_f64(&out[i], texts->items[i]))
            return rela_fail(err, RELA_ARG, "--link '%s'; expected a number of Gb/s",
                             texts->items[i]);
    return RELA_OK;
}
