/* SPDX-License-Identifier: MIT */
/* cli/cmd_info.c - rela info: describes a model file, or this build and machine. */
#include "cli.h"

#include "base/json.h"
#include "base/par.h"
#include "dist/machine.h"
#include "model_names.h"
#include "rela/attention.h"
#include "rela/model.h"

#include <string.h>

typedef struct info_options {
    bool attention;
    int64_t max_header;
    rela_list set;
} info_options;

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "attention", 0, RELA_OPTION_FLAG, offsetof(info_options, attention), 0, 0, NULL, NULL,
      "list the kinds of attention" },
    { "max-header", 0, RELA_OPTION_INT, offsetof(info_options, max_header), 2, 1e9, "16777216", "N",
      "maximum size of the header of a model file in bytes" },
    { "set", 0, RELA_OPTION_LIST, offsetof(info_options, set), 0, 0, NULL, "KEY=VALUE",
      "write an entry of the model card into the file: licence, description, date, score or any other key" },
    { .name = NULL },
};
/* clang-format on */

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status describe_model(rela_buffer *out, const rela_cli *cli, const info_options *o,
                                  rela_error *err);
static rela_status describe_build(rela_buffer *out, const rela_cli *cli, rela_error *err);
static rela_status list_attention(rela_buffer *out, bool json, rela_error *err);

const rela_command rela_commands_info[] = {
    { .name = "info",
      .summary = "describe a model file, or this build",
      .operands = "[MODEL]",
      .max_operands = 1,
      .description =
          "Reads and checks a whole model file or checkpoint and prints its configuration, its\n"
          "parameters per block, its texts, its card (languages, licence, data, score, date) and\n"
          "its training settings; of a pair from 'rela align --save', those of both models.\n"
          "Without a file it prints the version of the program and what it found on this machine:\n"
          "threads, instruction set, free memory, MPI, libraries.",
      .examples = "rela info run/model.rela\n"
                  "rela info run/model.rela --set licence=CC-BY-4.0 --set date=2026-11-18\n"
                  "rela info --attention\n"
                  "rela info --json run/best.rela",
      .options = OPTIONS,
      .options_size = sizeof(info_options),
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const info_options *o = options;
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    if (o->set.n && !cli->operands.n)
        return rela_fail(err, RELA_ARG, "--set needs a model file");
    if (o->attention && cli->operands.n)
        return rela_fail(err, RELA_ARG, "--attention goes without a model file");
    if (o->attention) {
        st = list_attention(&text, cli->common.json, err);
    } else if (cli->operands.n == 0) {
        st = describe_build(&text, cli, err);
    } else {
        st = describe_model(&text, cli, o, err);
    }
    if (st == RELA_OK)
        st = rela_cli_print(&text, err);
    rela_buffer_free(&text);
    return st;
}

static rela_status describe_model(rela_buffer *out, const rela_cli *cli, const info_options *o,
                                  rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_model_info_options info;
    rela_model_info_options_init(&info, sizeof info);
    info.json = cli->common.json;
    info.n_threads = (int32_t)cli->common.threads;
    info.max_header = o->max_header;
    rela_status st = rela_cli_find_model(&path, cli->operands.items[0], err);
    if (st == RELA_OK && o->set.n)
        st = rela_model_card_set(path.data, o->set.items, o->set.n, err);
    st = st ? st : rela_model_info(out, path.data, &info, err);
    rela_buffer_free(&path);
    return st;
}

static rela_status describe_build(rela_buffer *out, const rela_cli *cli, rela_error *err)
{
    const bool json = cli->common.json, mpi = rela_machine_mpi();
    const int n = rela_par_threads((int)cli->common.threads);
    const uint32_t v = rela_version();
    const uint64_t memory = rela_memory_available();
    rela_status st = rela_buffer_printf(
        out, err,
        json ? "{\"version\": \"%u.%u.%u\", \"threads\": %d, \"instruction_set\": \"%s\", "
             : "rela %u.%u.%u\nthreads          %d\ninstruction set  %s\n",
        v >> 16, v >> 8 & 255, v & 255, n, rela_machine_level());
    if (st == RELA_OK && json)
        st = rela_buffer_printf(out, err, "\"memory_free\": %llu, \"mpi\": %s, \"libraries\": {",
                                (unsigned long long)memory, mpi ? "true" : "false");
    else if (st == RELA_OK && memory) /* 0: unknown */
        st = rela_buffer_printf(out, err, "memory           %.1f GB free\n", (double)memory / 1e9);
    if (st == RELA_OK && !json)
        st = rela_buffer_printf(out, err, "MPI module       %s\nlibraries        ",
                                mpi ? "found" : "not found");
    char version[RELA_LIBRARY_VERSION];
    const char *name = NULL;
    for (size_t i = 0; st == RELA_OK && (name = rela_machine_library(version, i)); i++)
        st = rela_buffer_printf(out, err, json ? "%s\"%s\": \"%s\"" : "%s%s %s", i ? ", " : "",
                                name, version);
    return st ? st : rela_buffer_append_text(out, json ? "}}\n" : "\n", err);
}

/* The hyper-parameters of kind i. */
static rela_status list_numbers(rela_buffer *out, size_t i, bool json, rela_error *err)
{
    rela_attention_number n = { .struct_size = sizeof n };
    rela_status st = RELA_OK;
    for (size_t k = 0; rela_attention_number_get(&n, i, k, NULL) == RELA_OK && st == RELA_OK; k++) {
        if (json)
            st = rela_buffer_printf(out, err,
                                    "%s{\"number\": \"%s\", \"summary\": \"%s\", \"least\": %g, "
                                    "\"most\": %g, \"default\": %g}",
                                    k ? ", " : ", \"numbers\": [", n.name, n.summary, n.least,
                                    n.most, n.start);
        else
            st = rela_buffer_printf(out, err, "%16s :%s=%s  %s [%g..%g; default %g]\n", "", n.name,
                                    n.whole ? "N" : "X", n.summary, n.least, n.most, n.start);
        if (st == RELA_OK && json)
            st = rela_attention_number_get(&n, i, k + 1, NULL) == RELA_OK
                     ? RELA_OK
                     : rela_buffer_append_text(out, "]", err);
    }
    return st;
}

/* One line per kind of attention, or a JSON array of objects. */
static rela_status list_attention(rela_buffer *out, bool json, rela_error *err)
{
    rela_status st = json ? rela_buffer_printf(out, err, "[") : RELA_OK;
    for (size_t i = 0; st == RELA_OK && rela_attention_name(i); i++) {
        const char *name = rela_attention_name(i), *summary = rela_attention_summary(i);
        if (!json) {
            st = rela_buffer_printf(out, err, "%-16s %s\n", name, summary);
            st = st ? st : list_numbers(out, i, false, err);
            continue;
        }
        st = rela_buffer_printf(out, err, "%s{\"name\": ", i ? ",\n " : "");
        st = st ? st : rela_json_quote(out, name, strlen(name), err);
        st = st ? st : rela_buffer_printf(out, err, ", \"summary\": ");
        st = st ? st : rela_json_quote(out, summary, strlen(summary), err);
        st = st ? st : list_numbers(out, i, true, err);
        st = st ? st : rela_buffer_printf(out, err, "}");
    }
    return st == RELA_OK && json ? rela_buffer_printf(out, err, "]\n") : st;
}
