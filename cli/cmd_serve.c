/* SPDX-License-Identifier: MIT */
/* cli/cmd_serve.c - rela serve: a translation server. */
#include "cli.h"

#include "base/clock.h"
#include "base/mem.h"
#include "model_names.h"
#include "serve/socket_loop.h"

#include <arpa/inet.h>
#include <string.h>

enum { KEY_LINE_MAX = 1024, KEYS_MAX = 10000, MODELS_MAX = 64 };

typedef struct serve_options {
    const char *address;
    int64_t port;
    rela_list host_names, cors;
    const char *keys, *metrics_token, *access_log;
    bool metrics, behind_proxy, int8;
    int64_t queue_tokens, batch, batch_words, connections, per_address, body, texts;
    double rate, deadline, deadline_max, drain;
} serve_options;

#define AT(member) offsetof(serve_options, member)

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "address", 0, RELA_OPTION_TEXT, AT(address), 0, 0, "127.0.0.1", "ADDRESS", "address to listen on; any but 127.0.0.1 and ::1 can be reached by other machines" },
    { "port", 'p', RELA_OPTION_INT, AT(port), 0, 65535, "8080", "N", "port to listen on; 0: one that is free, see the first message" },
    { "host-name", 0, RELA_OPTION_LIST, AT(host_names), 0, 0, NULL, "NAME", "a name that clients may use for this server, besides localhost; '*': any" },
    { "cors", 0, RELA_OPTION_LIST, AT(cors), 0, 0, NULL, "ORIGIN", "pages of other sites that may use the server, like https://example.org; '*': all" },
    { "behind-proxy", 0, RELA_OPTION_FLAG, AT(behind_proxy), 0, 0, NULL, NULL, "clients come through a proxy: no limits per address" },
    { "keys", 0, RELA_OPTION_FILE, AT(keys), 0, 0, NULL, "FILE", "only serve clients with a key: a key per line, and after a blank its requests per minute" },
    { "rate", 0, RELA_OPTION_REAL, AT(rate), 0, 1e9, "0", "N", "requests per minute of a client; 0: any number" },
    { "deadline", 0, RELA_OPTION_REAL, AT(deadline), 0.001, 86400, "10", "SECONDS", "time for a request that does not say how much it has (X-Timeout-Ms)" },
    { "max-deadline", 0, RELA_OPTION_REAL, AT(deadline_max), 0.001, 86400, "600", "SECONDS", "time that a request may ask for" },
    { "queue-tokens", 0, RELA_OPTION_INT, AT(queue_tokens), 1, 1e12, "65536", "N", "source tokens that may wait; more are refused (503)" },
    { "batch", 0, RELA_OPTION_INT, AT(batch), 1, 65536, "64", "N", "sentences translated at the same time" },
    { "batch-words", 0, RELA_OPTION_INT, AT(batch_words), 1, 1e9, "4096", "N", "source tokens translated at the same time" },
    { "connections", 0, RELA_OPTION_INT, AT(connections), 1, 100000, "1024", "N", "open connections" },
    { "per-address", 0, RELA_OPTION_INT, AT(per_address), 0, 100000, "0", "N", "open connections of one address; 0: any number" },
    { "max-body", 0, RELA_OPTION_INT, AT(body), 1, 1e9, "1048576", "N", "bytes of a request" },
    { "max-texts", 0, RELA_OPTION_INT, AT(texts), 1, 1000, "256", "N", "texts of a request" },
    { "drain-seconds", 0, RELA_OPTION_REAL, AT(drain), 0, 86400, "30", "SECONDS", "after SIGTERM: time to finish the requests that were accepted" },
    { "metrics", 0, RELA_OPTION_FLAG, AT(metrics), 0, 0, NULL, NULL, "serve /metrics for Prometheus" },
    { "metrics-token", 0, RELA_OPTION_TEXT, AT(metrics_token), 0, 0, NULL, "TOKEN", "bearer token that /metrics asks for" },
    { "access-log", 0, RELA_OPTION_FILE, AT(access_log), 0, 0, NULL, "FILE", "append a line per request: no text, no query; - is standard error" },
    { "int8", 0, RELA_OPTION_FLAG, AT(int8), 0, 0, NULL, NULL, "int8 weights: faster, a quarter of the memory" },
    { .name = NULL },
};
static const char *const NEEDS[] = { "metrics-token", "metrics", "json", "", "seed", "", NULL };
/* clang-format on */

static rela_status run(rela_cli *cli, void *options, rela_error *err);

const rela_command rela_commands_serve[] = {
    { .name = "serve",
      .summary = "serve translations over HTTP",
      .operands = "MODEL...",
      .min_operands = 1,
      .max_operands = MODELS_MAX,
      .description =
          "Translates for other programs, with the interfaces of LibreTranslate (/translate),\n"
          "DeepL (/v2/translate) and one of its own (/v1/translate); / is a page to try it. Each\n"
          "model serves its pair of languages. Sentences of all clients are translated together,\n"
          "and each as if it were alone. A request that would end after its deadline is refused\n"
          "at once. SIGTERM finishes what was accepted, then ends the server; SIGHUP loads the\n"
          "models anew. Only this machine can reach the server, unless --address says otherwise.",
      .examples =
          "rela serve demo\n"
          "rela serve en-de.rela de-en.rela --port 5000 --int8\n"
          "rela serve run/model.rela --address 0.0.0.0 --host-name mt.example.org --keys keys.txt",
      .options = OPTIONS,
      .options_size = sizeof(serve_options),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

typedef struct server {
    rela_cli *cli;
    const serve_options *o;
    rela_service_options service;
    char *keys_text;
    rela_service_key *keys;
    rela_appender *log;
    bool log_failed;
} server;

static rela_status read_keys(server *s, rela_error *err);
static rela_status check(const server *s, rela_error *err);

static rela_status find(void *ctx, rela_buffer *path, const char *model, rela_error *err)
{
    (void)ctx;
    return rela_cli_find_model(path, model, err);
}

static void note(void *ctx, bool warning, const char *line)
{
    const server *s = ctx;
    rela_log_line(&s->cli->sink, warning ? RELA_LOG_WARNING : RELA_LOG_INFO, "%s", line);
}

static void on_log(void *ctx, int32_t level, const char *line)
{
    const server *s = ctx;
    /* What the library says of single sentences is not for a server's messages. */
    if (level < (int32_t)RELA_LOG_WARNING)
        rela_log_line(&s->cli->sink, (rela_log_level)level, "%s", line);
}

/* A line of the access log. A full disk is one warning, and never a request that fails. */
static void log_access(void *ctx, const char *line)
{
    server *s = ctx;
    char now[32];
    rela_buffer text = RELA_BUFFER_INIT;
    rela_error err = { RELA_OK, "" };
    rela_clock_text(now);
    rela_status st = rela_buffer_printf(&text, &err, "%s %s\n", now, line);
    if (st == RELA_OK && !s->log)
        (void)fputs(text.data, stderr);
    else if (st == RELA_OK)
        st = rela_appender_write(s->log, text.data, text.len, &err);
    if (st != RELA_OK && !s->log_failed)
        rela_log_line(&s->cli->sink, RELA_LOG_WARNING, "%s; the access log has gaps", err.message);
    s->log_failed = st != RELA_OK;
    rela_buffer_free(&text);
}

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    server s = { .cli = cli, .o = options };
    const serve_options *o = options;
    int number = 0;
    rela_service_options_init(&s.service);
    s.service.queue.connections = (size_t)o->connections;
    s.service.queue.waiting_tokens = (uint64_t)o->queue_tokens;
    s.service.queue.running_tokens = (uint64_t)o->batch_words;
    s.service.queue.running_sentences = (size_t)o->batch;
    s.service.per_address = (size_t)o->per_address;
    s.service.body_bytes = (size_t)o->body;
    s.service.texts = (size_t)o->texts;
    s.service.deadline = o->deadline;
    s.service.deadline_max = o->deadline_max;
    s.service.per_minute = o->rate;
    s.service.behind_proxy = o->behind_proxy;
    s.service.hosts = o->host_names.items;
    s.service.n_hosts = o->host_names.n;
    s.service.origins = o->cors.items;
    s.service.n_origins = o->cors.n;
    s.service.metrics = o->metrics;
    s.service.metrics_token = o->metrics_token;
    s.service.seed = (uint64_t)(rela_clock_since_1970() * 1e6);
    s.service.log_ctx = &s;
    rela_status st = check(&s, err);
    st = st ? st : read_keys(&s, err);
    if (st == RELA_OK && o->access_log) {
        s.service.log = log_access;
        if (strcmp(o->access_log, "-") != 0)
            st = rela_appender_open(&s.log, o->access_log, UINT64_MAX, err);
    }
    const rela_socket_options socket = { .address = o->address,
                                         .port = (int)o->port,
                                         .drain_seconds = o->drain,
                                         .service = &s.service,
                                         .served = { .n_threads = (int32_t)cli->common.threads,
                                                     .int8 = o->int8,
                                                     .log = on_log,
                                                     .log_ctx = &s },
                                         .models = cli->operands.items,
                                         .n_models = cli->operands.n,
                                         .find = find,
                                         .note = note,
                                         .note_ctx = &s };
    st = st ? st : rela_socket_serve(&number, &socket, err);
    rela_appender_close(s.log);
    rela_mem_free(s.keys);
    rela_mem_free(s.keys_text);
    if (st == RELA_OK && number)
        cli->exit_code = 128 + number;
    return st;
}

static rela_status check(const server *s, rela_error *err)
{
    const serve_options *o = s->o;
    unsigned char bytes[16];
    if (inet_pton(AF_INET, o->address, bytes) != 1 && inet_pton(AF_INET6, o->address, bytes) != 1)
        return rela_fail(
            err, RELA_ARG,
            "option --address: '%s' is not an address; expected numbers like 127.0.0.1 or ::1",
            o->address);
    const bool local = strcmp(o->address, "::1") == 0 || strncmp(o->address, "127.", 4) == 0;
    if (o->deadline > o->deadline_max)
        return rela_fail(err, RELA_ARG, "--deadline %g is more than --max-deadline %g", o->deadline,
                         o->deadline_max);
    if (!local)
        rela_log_line(&s->cli->sink, RELA_LOG_WARNING, "%s: other machines may reach this server%s",
                      o->address, o->keys ? "" : ", and everyone may use it: see --keys");
    return RELA_OK;
}

/* Lines "KEY [REQUESTS_PER_MINUTE]"; empty ones and those that begin with # are skipped. */
static rela_status read_keys(server *s, rela_error *err)
{
    size_t len = 0, cap = 0;
    if (!s->o->keys)
        return RELA_OK;
    rela_status st =
        rela_file_read_lines(&s->keys_text, &len, s->o->keys, 16 << 20, KEY_LINE_MAX, err);
    const char *at = s->keys_text, *end = at ? at + len : NULL;
    rela_span line;
    for (size_t number = 1; st == RELA_OK && rela_next_line(&line, &at, end); number++) {
        const char *word = line.text, *stop = line.text + line.len;
        rela_span key, rate = { NULL, 0 };
        double per_minute = 0;
        if (!rela_next_word(&key, &word, stop) || *key.text == '#')
            continue;
        if (rela_next_word(&rate, &word, stop))
            s->keys_text[rate.text - s->keys_text + (ptrdiff_t)rate.len] = '\0';
        s->keys_text[key.text - s->keys_text + (ptrdiff_t)key.len] = '\0';
        if (rate.text && (!rela_parse_f64(&per_minute, rate.text) || per_minute <= 0))
            return rela_fail(err, RELA_FORMAT,
                             "%s: line %zu: expected a key and a number of requests per minute",
                             s->o->keys, number);
        if (s->service.n_keys == KEYS_MAX)
            return rela_fail(err, RELA_FORMAT, "%s: more than %d keys", s->o->keys, KEYS_MAX);
        rela_service_key *keys = rela_mem_grow(s->keys, &cap, s->service.n_keys + 1, sizeof *keys);
        if (!keys)
            return rela_fail(err, RELA_NOMEM, "no memory for the keys");
        s->keys = keys;
        keys[s->service.n_keys++] = (rela_service_key){ key.text, per_minute };
    }
    s->service.keys = s->keys;
    if (st == RELA_OK && s->service.n_keys == 0)
        return rela_fail(err, RELA_FORMAT, "%s: has no keys", s->o->keys);
    return st;
}
