/* SPDX-License-Identifier: MIT */
/* cli/sources.h - the text that a model reads, many sentences at a time: one file, or for a model
 * with several sources one file each or the tab-separated columns of one file. */
#ifndef RELA_CLI_SOURCES_H
#define RELA_CLI_SOURCES_H

#include "blocks.h"
#include "models.h"

/* Some sentences. All zero is empty. */
typedef struct rela_cli_sentences {
    const char **texts; /* (n, sources) what the functions of the library take */
    size_t *lens;
    size_t n;
    uint64_t first; /* number of the first line */
    /* private */
    rela_cli_block blocks[RELA_SOURCES_MAX];
    const char **own_texts;
    size_t *own_lens;
    size_t cap_texts, cap_lens;
} rela_cli_sentences;

/* Where they are read from. All zero is closed. */
typedef struct rela_cli_sources {
    size_t n; /* of the model */
    rela_reader *readers[RELA_SOURCES_MAX];
    bool columns, standard; /* standard: input */
} rela_cli_sources;

/* paths: of the first source, and of further ones or NULL. option: the name of the first path's,
 * for messages. Close it in any case. */
rela_status rela_cli_sources_open(rela_cli_sources *s, const rela_model *m,
                                  const char *const paths[RELA_SOURCES_MAX], const char *option,
                                  rela_error *err);
void rela_cli_sources_close(rela_cli_sources *s);

/* The next sentences: so many lines, or with lines 0 as rela_cli_block_read has them; none at the
 * end.
 */
rela_status rela_cli_sources_read(rela_cli_sources *s, rela_cli_sentences *b, size_t want,
                                  size_t lines, rela_error *err);
void rela_cli_sentences_free(rela_cli_sentences *b);

/* Reports text of sentences that is not UTF-8. */
void rela_cli_sources_check(const rela_cli_sources *s, const rela_cli_sentences *b, rela_cli *cli);

/* Whether text is typed and results are read on the same terminal. */
bool rela_cli_sources_typed(const rela_cli_sources *s);

#endif
