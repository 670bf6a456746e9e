/* SPDX-License-Identifier: MIT */
/* cli/sources.h - reads the input of a model in blocks of sentences: from one file or, for a model
 * with several sources, from one file each or from the tab-separated columns of one file. */
#ifndef RELA_CLI_SOURCES_H
#define RELA_CLI_SOURCES_H

#include "blocks.h"
#include "models.h"

/* A block of sentences. All zero means empty. */
typedef struct rela_cli_sentences {
    const char **texts; /* (n, sources), as the library takes them; so lens */
    size_t *lens;
    size_t n;
    uint64_t first; /* number of the first line */
    /* private */
    rela_cli_block blocks[RELA_SOURCES_MAX];
    const char **own_texts;
    size_t *own_lens;
    size_t cap_texts, cap_lens;
} rela_cli_sentences;

/* The input. All zero means closed. */
typedef struct rela_cli_sources {
    size_t n; /* sources of the model */
    rela_reader *readers[RELA_SOURCES_MAX];
    bool columns;
} rela_cli_sources;

/* paths: of the first source, then of the others or NULL. option: the option of the first path, for
 * messages. Close s in any case. */
rela_status rela_cli_sources_open(rela_cli_sources *s, const rela_model *m,
                                  const char *const paths[RELA_SOURCES_MAX], const char *option,
                                  rela_error *err);
void rela_cli_sources_close(rela_cli_sources *s);

/* Reads the next sentences: `lines` of them, or if that is 0 about `want` bytes, as in
 * rela_cli_block_read. None at the end. */
rela_status rela_cli_sources_read(rela_cli_sources *s, rela_cli_sentences *b, size_t want,
                                  size_t lines, rela_error *err);
void rela_cli_sentences_free(rela_cli_sentences *b);

/* Warns about sentences that are not UTF-8. */
void rela_cli_sources_check(const rela_cli_sources *s, const rela_cli_sentences *b, rela_cli *cli);

#endif
