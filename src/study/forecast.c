/* SPDX-License-Identifier: MIT */
/* src/study/forecast.c - see forecast.h. */
#include "study/forecast.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <string.h>

/* Bytes of the program, its libraries and its text; subwords besides merges; shares of the peak
 * that training and translation reach with small models. */
#define PROGRAM_BYTES   ((uint64_t)96 << 20)
#define TRAIN_SHARE     0.7
#define TRANSLATE_SHARE 0.05
enum { OTHER_SUBWORDS = 200, TRAIN_PASSES = 6, FLOAT_BYTES = 4, BYTES_PER_TOKEN = 4, BEAM = 4 };

/* Seconds and work of jobs that are done, by kind and data. */
typedef struct rate {
    rela_study_kind kind;
    const char *data; /* NULL: of all */
    double seconds, work;
} rate;

typedef struct rates {
    rate *items;
    size_t n, room;
} rates;

static double setting(const rela_study_job *job, const char *key);
static double parameters_of(const rela_study_jobs *jobs, const rela_study_job *job);
static double work_of(const rela_study_jobs *jobs, const rela_study_job *job);
static bool add_rate(rates *all, const rela_study_job *job, const char *data, double seconds,
                     double work);
static double read_seconds(const rela_study_job *job, const char *results);
static const rate *find_rate(const rates *all, const rela_study_job *job);

rela_status rela_study_forecast(rela_study_need *needs, const rela_study_jobs *jobs,
                                const char *results, double flops, int64_t threads, rela_error *err)
{
    rates all = { NULL, 0, 0 };
    bool room = true;
    for (size_t i = 0; i < jobs->n && room; i++) {
        const rela_study_job *j = &jobs->items[i];
        const double seconds = j->state == RELA_STUDY_DONE ? read_seconds(j, results) : 0;
        if (seconds > 0)
            room = add_rate(&all, j, j->data, seconds, work_of(jobs, j)) &&
                   add_rate(&all, j, NULL, seconds, work_of(jobs, j));
    }
    for (size_t i = 0; i < jobs->n && room; i++) {
        const rela_study_job *j = &jobs->items[i];
        const rate *r = find_rate(&all, j);
        const double p = parameters_of(jobs, j) * FLOAT_BYTES;
        const bool trains = j->kind == RELA_STUDY_TRAIN || j->kind == RELA_STUDY_TUNE;
        needs[i] = (rela_study_need){ .measured = r != NULL };
        if (j->state == RELA_STUDY_DONE)
            continue;
        const double share = trains ? TRAIN_SHARE : TRANSLATE_SHARE;
        needs[i].seconds = r && r->work > 0 ? work_of(jobs, j) * r->seconds / r->work
                           : flops > 0      ? work_of(jobs, j) / (flops * share)
                                            : 0;
        needs[i].memory = PROGRAM_BYTES + (uint64_t)(p * (trains ? 4 + (double)threads : 2));
        needs[i].disk = trains ? (uint64_t)(3 * p * (setting(j, "keep") + 2)) : (uint64_t)1 << 20;
        needs[i].kept = j->kind == RELA_STUDY_TRAIN ? (uint64_t)p : 0;
    }
    rela_mem_free(all.items);
    return room ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for a forecast");
}

rela_status rela_study_check_room(const rela_study_need *needs, const rela_study_jobs *jobs,
                                  const bool *wanted, const char *dir, size_t at_once,
                                  rela_error *err)
{
    enum { MIB_BITS = 20 };
    const uint64_t room = rela_disk_free(dir);
    size_t most = 0;
    uint64_t need = 0;
    for (size_t i = 0; i < jobs->n; i++) {
        if (!wanted[i])
            continue;
        need += needs[i].kept;
        most = needs[i].disk > needs[most].disk ? i : most;
    }
    if (jobs->n)
        need += needs[most].disk * at_once;
    if (room == 0 || need <= room)
        return RELA_OK;
    const rela_tree at = { .path = jobs->study->path, .line = jobs->items[most].line };
    (void)rela_tree_fail(&at, err,
                         "%s needs %llu MiB and all jobs %llu MiB; %llu MiB are free on "
                         "disk in %s",
                         jobs->items[most].name, (unsigned long long)(needs[most].disk >> MIB_BITS),
                         (unsigned long long)(need >> MIB_BITS),
                         (unsigned long long)(room >> MIB_BITS), dir);
    return RELA_IO;
}

/* A number among "key: value" lines of the options; 0 if there is none. */
static double setting(const rela_study_job *job, const char *key)
{
    char line[64];
    rela_format_text(line, sizeof line, "\n%s: ", key);
    const char *at = job->options ? strstr(job->options, line) : NULL;
    char *end = NULL;
    return at ? rela_scan_f64(at + strlen(line), &end) : 0;
}

/* The training whose model a job uses, or the job itself. */
static const rela_study_job *training_of(const rela_study_jobs *jobs, const rela_study_job *job)
{
    for (size_t i = 0; i < job->n_inputs; i++)
        if (strcmp(job->inputs[i].role, "model") == 0 && job->inputs[i].job != RELA_STUDY_NO_JOB)
            return &jobs->items[job->inputs[i].job];
    return job;
}

static double parameters_of(const rela_study_jobs *jobs, const rela_study_job *job)
{
    const rela_study_job *t = training_of(jobs, job);
    const double d = setting(t, "width"), f = setting(t, "ffn");
    const double attention = 4 * d * d, ffn = 2 * d * f;
    return setting(t, "enc-layers") * (attention + ffn) +
           setting(t, "dec-layers") * (2 * attention + ffn) +
           (setting(t, "merges") + OTHER_SUBWORDS) * d;
}

/* Operations, about. */
static double work_of(const rela_study_jobs *jobs, const rela_study_job *job)
{
    const double p = parameters_of(jobs, job);
    double bytes = 0;
    if (job->kind == RELA_STUDY_TRAIN || job->kind == RELA_STUDY_TUNE)
        return TRAIN_PASSES * p * setting(job, "updates") * setting(job, "batch-tokens") *
               (setting(job, "r-drop") > 0 ? 2 : 1);
    for (size_t i = 0; i < job->n_inputs; i++)
        if (strcmp(job->inputs[i].role, "src") == 0)
            bytes = (double)job->inputs[i].size;
    const double tokens = bytes > 0 ? bytes / BYTES_PER_TOKEN : 10000;
    return p > 0 ? 2 * p * BEAM * tokens : 1e9;
}

static bool add_rate(rates *all, const rela_study_job *job, const char *data, double seconds,
                     double work)
{
    rate *found = NULL;
    for (size_t i = 0; i < all->n && !found; i++)
        if (all->items[i].kind == job->kind && all->items[i].data == data)
            found = &all->items[i];
    if (!found) {
        if (all->n == all->room) {
            rate *grown = rela_mem_grow(all->items, &all->room, all->n + 1, sizeof *grown);
            if (!grown)
                return false;
            all->items = grown;
        }
        found = &all->items[all->n++];
        *found = (rate){ .kind = job->kind, .data = data };
    }
    found->seconds += seconds;
    found->work += work;
    return true;
}

/* Of the same data if there are any; of tuning for training and the other way round. */
static const rate *find_rate(const rates *all, const rela_study_job *job)
{
    const rate *best = NULL;
    int best_likeness = 0;
    for (size_t i = 0; i < all->n; i++) {
        const rate *r = &all->items[i];
        const bool trains = (r->kind == RELA_STUDY_TRAIN && job->kind == RELA_STUDY_TUNE) ||
                            (r->kind == RELA_STUDY_TUNE && job->kind == RELA_STUDY_TRAIN);
        const int likeness = (r->kind == job->kind ? 2
                              : trains             ? 1
                                                   : 0) *
                                 2 +
                             (r->data && r->data == job->data);
        if (likeness > 1 && likeness > best_likeness) {
            best = r;
            best_likeness = likeness;
        }
    }
    return best;
}

/* CPU seconds: wall-clock time depends on what else the machine did. */
static double read_seconds(const rela_study_job *job, const char *results)
{
    rela_buffer path = RELA_BUFFER_INIT;
    char *text = NULL, *end = NULL;
    size_t len = 0;
    double seconds = 0;
    if (rela_study_result_path(&path, results, job, "time.tsv", NULL) == RELA_OK &&
        rela_file_read(&text, &len, path.data, 0, NULL) == RELA_OK) {
        const char *at = strstr(text, "\ncpu_seconds\t");
        seconds = at ? rela_scan_f64(at + strlen("\ncpu_seconds\t"), &end) : 0;
    }
    rela_mem_free(text);
    rela_buffer_free(&path);
    return seconds;
}
