/* SPDX-License-Identifier: MIT */
/* src/base/option.h - one table per command: parsing, range checks, configuration keys, --help,
 * manual pages and shell completions all come from it.
 *
 * A row names the field of an options struct that it fills:
 *   FLAG bool, INT int64_t, REAL double, TEXT/FILE/OUTPUT/DIR/CHOICE const char *, LIST/FILES
 *   rela_list.
 * Tables end with a row whose name is NULL. */
#ifndef RELA_BASE_OPTION_H
#define RELA_BASE_OPTION_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum rela_option_type {
    RELA_OPTION_FLAG, /* --name, --no-name */
    RELA_OPTION_INT,  /* whole number; 10K, 2M, 1g are understood */
    RELA_OPTION_REAL,
    RELA_OPTION_TEXT,
    RELA_OPTION_FILE,   /* as TEXT; completed with file names */
    RELA_OPTION_OUTPUT, /* as FILE, for one that is written */
    RELA_OPTION_DIR,
    RELA_OPTION_CHOICE, /* one of value, which reads "a|b|c" */
    RELA_OPTION_LIST,   /* of texts; may be given several times */
    RELA_OPTION_FILES   /* as LIST, of names of files */
} rela_option_type;

typedef struct rela_list {
    const char **items;
    size_t n;
} rela_list;

typedef struct rela_option {
    const char *name; /* long form, without dashes; also the configuration key */
    char letter;      /* short form or 0 */
    rela_option_type type;
    size_t offset;       /* of the field in the options struct */
    double min, max;     /* INT and REAL, both ends included */
    const char *initial; /* default as text; NULL: false, 0 or NULL */
    const char *value;   /* placeholder for the value in help: "FILE", "a|b|c" */
    const char *help; /* one sentence, lower case, no full stop; if it ends in brackets, they have
                         the default in words: "language of the text [that of the model]" */
} rela_option;

struct rela_cli; /* passed to commands; defined by the program */

typedef struct rela_command {
    const char *name;     /* "translate", "bpe learn" */
    const char *alias;    /* another spelling, or NULL */
    const char *summary;  /* one line */
    const char *operands; /* "[FILE...]", as shown in the usage line; "" for none */
    size_t min_operands, max_operands;
    const char *description; /* paragraphs for --help and the manual */
    const char *examples;    /* one command line per line, or NULL */
    const rela_option *options;
    size_t options_size; /* of the struct the rows fill */
    bool in_place;       /* an operand may also be the output */
    /* Dependencies between options, or NULL. Pairs: an option, and what it requires or, after !,
     * excludes: "name", "name=value" or an operand in capitals, separated by |; nothing, if the
     * command makes no use of it. NULL ends them. */
    const char *const *needs;
    rela_status (*run)(struct rela_cli *cli, void *options, rela_error *err);
} rela_command;

/* Several tables can be active at once: those of the program and those of the command. */
typedef struct rela_option_group {
    const rela_option *options;
    void *fields;
} rela_option_group;

/* The result of parsing; owns the texts that came from a configuration. */
typedef struct rela_option_state rela_option_state;

/* The current name of an option that was renamed since the previous version, with its length in
 * *len; otherwise name, with *len unchanged. Old names are still accepted on the command line, in
 * configurations and in checkpoints. */
const char *rela_option_present_name(const char *name, size_t *len);

/* What does the same as the option of another tool: an option, perhaps with a value ("to int8"), or
 * after ! a remedy in words. has tells whether the command has an option. NULL: not known. */
const char *rela_option_foreign(const char *name, size_t len,
                                bool (*has)(const void *ctx, const char *name, size_t len),
                                const void *ctx);

/* Names are accepted in British and US spelling: --normalise and --normalize are the same option.
 */
rela_option_state *rela_options_create(const rela_option_group *groups, size_t n_groups);
void rela_options_destroy(rela_option_state *s); /* NULL is fine */

/* Sets all fields to their defaults. */
rela_status rela_options_default(rela_option_state *s, rela_error *err);

/* Reads arguments in any order; those that are not options go to operands (lent, in argv). */
rela_status rela_options_parse(rela_option_state *s, rela_list *operands, int argc,
                               const char *const *argv, rela_error *err);

/* Sets one key of a configuration unless the command line has set it already. value is copied. */
rela_status rela_options_set(rela_option_state *s, const char *key, const char *value,
                             rela_error *err);
bool rela_options_is_list(const rela_option_state *s, const char *key);

bool rela_options_given(const rela_option_state *s, const char *name);
/* Given on the command line. Unlike that, a configuration may contain settings without effect. */
bool rela_options_typed(const rela_option_state *s, const char *name);

/* The value of a TEXT or CHOICE option, default included; NULL if it has none. Lent. */
const char *rela_options_text(const rela_option_state *s, const char *name);

/* Appends all keys with their current values, defaults included, as YAML that can be read back as a
 * configuration. */
rela_status rela_options_dump(rela_buffer *out, const rela_option_state *s, rela_error *err);

/* The same for one row; fields: the struct it fills. */
rela_status rela_option_dump(rela_buffer *out, const rela_option *o, const void *fields,
                             rela_error *err);

/* Reads a value into the field of one row; value is lent. field NULL: an item of a list, which is
 * only checked. */
rela_status rela_option_store(const rela_option *o, void *field, const char *value,
                              rela_error *err);

/* Help and manual page. common: the options that every command has. */
rela_status rela_options_help(rela_buffer *out, const rela_command *c, const rela_option *common,
                              rela_error *err);
rela_status rela_options_man(rela_buffer *out, const rela_command *c, const rela_option *common,
                             rela_error *err);
typedef struct rela_command_list {
    const rela_command *const *items;
    size_t n;
} rela_command_list;
/* shell: "bash", "zsh" or "fish". */
rela_status rela_options_completion(rela_buffer *out, const char *shell, rela_command_list commands,
                                    const rela_option *common, rela_error *err);

#endif
