/* SPDX-License-Identifier: MIT */
/* src/train/ranks.c - see ranks.h. */
#include "train/ranks.h"

#include "base/par.h"
#include "dist/build_id.h"
#include "dist/machine.h"
#include "format/model_text.h"
#include "kern/gemm.h"
#include "train/train_options.h"

#include <xxhash.h>

enum { NOTE_MAX = 256, PAIRS_BYTES = 4 << 20 /* of pairs per broadcast */ };

static rela_status compare_ranks(rela_world *w, const rela_train_options *o, rela_error *err);
static rela_status find_traps(rela_buffer *notes, rela_world *w, const rela_train_options *o,
                              rela_error *err);

rela_status rela_ranks_join(rela_world **out, rela_buffer *notes, rela_train_options *o,
                            rela_error *err)
{
    *out = NULL;
    if (!o->mpi)
        return RELA_OK;
    rela_status st = rela_world_open(out, err);
    if (st != RELA_OK || !*out)
        return st;
    st = compare_ranks(*out, o, err);
    if (st != RELA_OK)
        return st;
    o->threads = rela_world_threads(*out, (int)o->threads);
    return find_traps(notes, *out, o, err);
}

static rela_status compare_ranks(rela_world *w, const rela_train_options *o, rela_error *err)
{
    char build[RELA_BUILD_ID_MAX];
    rela_buffer text = RELA_BUFFER_INIT;
    rela_train_options common = *o;
    common.threads = 0;
    rela_build_id(build);
    rela_status st = rela_buffer_printf(
        &text, err,
        "version: %d.%d.%d\nbuild of rela: %s\ninstruction set (RELA_ISA limits it): %s\n"
        "instruction set of oneDNN (DNNL_MAX_CPU_ISA limits it): %d\n",
        RELA_VERSION_MAJOR, RELA_VERSION_MINOR, RELA_VERSION_PATCH, build, rela_kern_get()->name,
        rela_gemm_isa());
    st = st ? st : rela_train_options_dump(&text, &common, err);
    st = rela_world_agree(w, st, err);
    st = st ? st : rela_world_same(w, text.data, err);
    rela_buffer_free(&text);
    return st;
}

/* Warns of the default binding of mpirun and of too many threads: both make ranks slow. */
static void find_trap(char note[NOTE_MAX], rela_world *w, const rela_train_options *o)
{
    const rela_processors p = rela_processors_count();
    const long threads = rela_par_threads((int)o->threads);
    const long local = (long)rela_world_local_size(w);
    if (p.allowed < threads)
        rela_format_text(note, NOTE_MAX,
                         "%ld threads, but mpirun binds this rank to %ld of %ld processors: add "
                         "--bind-to none, or --map-by slot:PE=%ld",
                         threads, p.allowed, p.all, threads);
    else if (p.allowed * local < p.all && o->threads == 0)
        rela_format_text(note, NOTE_MAX,
                         "mpirun binds this rank to %ld of %ld processors, and %ld ranks are "
                         "here: add --bind-to none, or --map-by slot:PE=%ld",
                         p.allowed, p.all, local, p.all / local);
    else if (local > p.all)
        rela_format_text(note, NOTE_MAX, "%ld ranks share %ld processors: fewer would be faster",
                         local, p.all);
    else if (threads * local > p.all)
        rela_format_text(note, NOTE_MAX,
                         "%ld ranks of %ld threads share %ld processors: %ld threads each would do",
                         local, threads, p.all, p.all / local);
}

/* Passes the warning of the first rank that has one to rank 0; the others are alike. */
static rela_status find_traps(rela_buffer *notes, rela_world *w, const rela_train_options *o,
                              rela_error *err)
{
    char note[NOTE_MAX] = "";
    rela_error own = { RELA_OK, "" };
    find_trap(note, w, o);
    const size_t rank = rela_world_rank(w), size = rela_world_size(w);
    const size_t first = (size_t)rela_world_min(w, (int64_t)(*note ? rank : size));
    rela_status st = RELA_OK;
    if (first == size)
        return RELA_OK;
    if (first == rank)
        rela_format_text(own.message, sizeof own.message, "warning: rank %zu on %s: %s", rank,
                         rela_world_host(w, rank), note);
    rela_message m = { rank ? 0 : first, own.message, sizeof own.message };
    if (first) {
        rela_world_begin(w, &m, rank == first, &m, rank == 0);
        rela_world_wait(w);
    }
    if (rank == 0)
        st = rela_buffer_append_text(notes, own.message, err);
    return rela_world_agree(w, st, err);
}

rela_status rela_ranks_share_pipeline(rela_pipeline **p, rela_world *w, rela_status st,
                                      rela_error *err)
{
    static const char *const NAMES[] = { RELA_SECTION_PIPELINE, RELA_SECTION_BPE,
                                         RELA_SECTION_VOCAB_SRC, RELA_SECTION_VOCAB_TGT };
    rela_extras e = { 0 };
    rela_buffer text = RELA_BUFFER_INIT;
    if (!w)
        return st;
    const bool first = rela_world_rank(w) == 0;
    if (st == RELA_OK && first)
        st = rela_pipeline_store(&e, *p, err);
    st = rela_world_agree(w, st, err);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0] && st == RELA_OK; i++) {
        const rela_section *s = rela_extras_get(&e, NAMES[i]);
        rela_buffer_clear(&text);
        st = s ? rela_buffer_append(&text, s->text, s->len, err) : RELA_OK;
        st = rela_world_agree(w, st, err);
        st = st ? st : rela_world_broadcast_text(w, &text, err);
        if (st == RELA_OK && text.len && !first)
            st = rela_extras_set(&e, NAMES[i], text.data, text.len, err);
        st = rela_world_agree(w, st, err);
    }
    if (st == RELA_OK && !first)
        st = rela_pipeline_restore(p, &e, err);
    rela_extras_deinit(&e);
    rela_buffer_free(&text);
    return rela_world_agree(w, st, err);
}

rela_status rela_ranks_share_store(rela_store **s, rela_world *w, const rela_train_options *o,
                                   rela_status st, rela_error *err)
{
    rela_buffer pairs = RELA_BUFFER_INIT;
    uint32_t at = 0;
    if (!w)
        return st;
    const bool first = rela_world_rank(w) == 0;
    if (st == RELA_OK && !first)
        st = rela_store_create(s, rela_train_sources(o) + 1, (uint64_t)o->data_memory, NULL, err);
    st = rela_world_agree(w, st, err);
    do {
        rela_buffer_clear(&pairs);
        if (st == RELA_OK && first)
            st = rela_store_pack(&pairs, *s, &at, PAIRS_BYTES, err);
        st = rela_world_agree(w, st, err);
        st = st ? st : rela_world_broadcast_text(w, &pairs, err);
        if (st == RELA_OK && !first)
            st = rela_store_unpack(*s, pairs.data, pairs.len, err);
    } while (st == RELA_OK && pairs.len);
    if (st == RELA_OK && !first)
        st = rela_store_finish(*s, err);
    rela_buffer_free(&pairs);
    return rela_world_agree(w, st, err);
}

rela_status rela_ranks_check(rela_world *w, uint64_t data_digest, const rela_net *net,
                             rela_error *err)
{
    char text[NOTE_MAX];
    const size_t bytes = net->params.total * sizeof *net->weights;
    if (!w)
        return RELA_OK;
    rela_format_text(text, sizeof text,
                     "hash of the training text: %016llx\nhash of the first weights: %016llx\n",
                     (unsigned long long)data_digest,
                     (unsigned long long)XXH3_64bits(net->weights, bytes));
    return rela_world_same(w, text, err);
}
