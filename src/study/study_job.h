/* SPDX-License-Identifier: MIT */
/* src/study/study_job.h - the jobs of a study: what each runs, needs and leaves, its key and its
 * state.
 *
 * A job runs in its own folder, DIR/jobs/KEY, by commands with relative names only: in/ROLE are its
 * inputs, out/NAME its outputs, work/ what a run needs to resume. So neither its bytes nor its key
 * depend on where the folder is. */
#ifndef RELA_STUDY_STUDY_JOB_H
#define RELA_STUDY_STUDY_JOB_H

#include "study/study.h"

typedef enum rela_study_kind {
    RELA_STUDY_CORPUS,  /* built-in corpus: corpus/DATA */
    RELA_STUDY_TUNE,    /* tune/MODEL/SETTING, setting from 1 */
    RELA_STUDY_CHOOSE,  /* choose/MODEL: choice.yml, choice.tsv */
    RELA_STUDY_TRAIN,   /* train/DATA/MODEL/SEED: model.rela, valid.tsv */
    RELA_STUDY_SCORE,   /* score/DATA/MODEL/SEED/TEST: hyp (big), stats.tsv.gz */
    RELA_STUDY_ANALYSE, /* analyse/DATA/MODEL/SEED/WHAT: see study/expand_analyses.c */
    RELA_STUDY_SPEED,   /* speed/WHAT: bench.json and tables, timings all */
    RELA_STUDY_KINDS
} rela_study_kind;

/* "corpus", "tune" ...: the first part of names. */
const char *rela_study_kind_name(rela_study_kind kind);

typedef enum rela_study_state {
    RELA_STUDY_PENDING, /* waits for other jobs: no key yet, key is "" */
    RELA_STUDY_READY,   /* never run, or with other options or inputs */
    RELA_STUDY_RUNNING, /* claimed by a process that is alive */
    RELA_STUDY_STOPPED, /* by a signal; goes on where it was */
    RELA_STUDY_FAILED,
    RELA_STUDY_BLOCKED, /* needs a job that failed */
    RELA_STUDY_DONE
} rela_study_state;

const char *rela_study_state_name(rela_study_state state);

enum {
    RELA_STUDY_NO_JOB = -1,
    RELA_STUDY_KEY_SIZE = 33, /* 32 hex digits and NUL */
    RELA_STUDY_FOLDER_DIGITS = 12
};

/* An input: a file, or an output of another job. */
typedef struct rela_study_input {
    const char *role;               /* in/ROLE */
    const char *path;               /* a file of the user; NULL: of a job */
    size_t line;                    /* in the study, of path */
    int job;                        /* number of the job that makes it, or RELA_STUDY_NO_JOB */
    const char *output;             /* and its name there */
    char hash[RELA_STUDY_KEY_SIZE]; /* of the contents; "" until known */
    uint64_t size;
} rela_study_input;

/* A file that a job left, as its manifest lists it. */
typedef struct rela_study_output {
    const char *name;               /* below out/ */
    char hash[RELA_STUDY_KEY_SIZE]; /* "-" for timings, which differ from run to run */
    uint64_t size;
    bool small; /* is in RESULTS too */
} rela_study_output;

/* One command of a job: its words after "rela"; the first is its name ("study statistics"). */
typedef struct rela_study_step {
    const char *const *words;
    size_t n;
} rela_study_step;

typedef struct rela_study_job {
    const char *name; /* unique */
    rela_study_kind kind;
    const char *stage; /* tuning, the stages of `train:`, analyses, speed */
    size_t order;      /* stages run in this order */
    /* What it is about; NULL, -1: does not apply. */
    const char *data, *model, *test; /* test: a test set, "valid", or what is analysed */
    int64_t seed;
    int setting; /* of tuning, from 0 */
    rela_study_step *steps;
    size_t n_steps;
    rela_study_input *inputs;
    size_t n_inputs;
    size_t line; /* in the study, of what asks for it */
    /* Filled by rela_study_locate. */
    const char *options;                /* of all steps in full; NULL until known */
    char settings[RELA_STUDY_KEY_SIZE]; /* hash of the options */
    char key[RELA_STUDY_KEY_SIZE];      /* "" while it is not known */
    rela_study_state state;
    rela_study_output *outputs; /* of a job that is done */
    size_t n_outputs;
} rela_study_job;

/* Sorted: every job comes after those it needs, stages in their order. */
typedef struct rela_study_jobs {
    rela_study *study;
    rela_study_job *items;
    size_t n;
} rela_study_jobs;

/* The jobs of a study; they live in its arena. Fails for a cycle or contradicting options. */
rela_status rela_study_expand(rela_study_jobs *out, rela_study *s, rela_error *err);

/* What the program knows and the library does not: the options of a command in full, one
 * "name: value" per line, defaults filled in, without what changes no result (threads, log ...). */
typedef struct rela_study_normaliser {
    rela_status (*normalise)(void *ctx, rela_buffer *out, const char *const *words, size_t n,
                             rela_error *err);
    void *ctx;
} rela_study_normaliser;

/* Computes keys as far as they are known, and marks what is done in RESULTS. dir: work folder, for
 * states and the cache of hashes. NULL: there is none, as for a report from RESULTS alone; then
 * keys come from RESULTS/names.tsv, and jobs whose options have changed since are not done. */
rela_status rela_study_locate(rela_study_jobs *jobs, const char *dir, const char *results,
                              const rela_study_normaliser *normaliser, rela_error *err);

/* The job of a name, or of (the beginning of) a key; RELA_STUDY_NO_JOB: none. */
int rela_study_find_job(const rela_study_jobs *jobs, const char *name);

/* RESULTS/<12 digits>/NAME of a small output. */
rela_status rela_study_result_path(rela_buffer *out, const char *results, const rela_study_job *job,
                                   const char *name, rela_error *err);

#endif
