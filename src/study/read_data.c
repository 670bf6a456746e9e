/* SPDX-License-Identifier: MIT */
/* src/study/read_data.c - `data:` of a study, for read_parts.h. */
#include "study/read_parts.h"

#include "base/file.h"
#include "base/mem.h"
#include "study/arena_text.h"

#include <glob.h>
#include <string.h>

static rela_status read_entry(rela_study_data *d, rela_study *s, const rela_tree *at,
                              rela_error *err);
static rela_status read_generated(rela_study_data *d, rela_study *s, const rela_tree *at,
                                  rela_error *err);
static rela_status read_pair(rela_study_pair *out, const char *name, const rela_tree *at,
                             rela_error *err);
static rela_status read_tests(rela_study_data *d, rela_study *s, const rela_tree *at,
                              rela_error *err);
static rela_status find_tests(rela_study_data *d, rela_study *s, const rela_tree *at,
                              rela_error *err);
static rela_status take_found(rela_study_pair *out, rela_study *s, const rela_study_data *d,
                              const char *path, const rela_tree *at, rela_error *err);
static rela_status read_extras(rela_study_data *d, const rela_tree *at, rela_error *err);
static rela_status check_pair(const rela_study *s, const rela_study_pair *p, rela_error *err);
static rela_status check_file(const rela_study *s, const char *path, size_t line, rela_error *err);

rela_status rela_study_read_data(rela_study *s, rela_error *err)
{
    const rela_tree *all = rela_tree_get(s->tree, "data");
    if (!all)
        return rela_tree_fail(s->tree, err, "no 'data:'");
    rela_status st = rela_tree_expect(all, RELA_TREE_MAP, "names of corpora", err);
    s->data = rela_arena_array(s->arena, all->n, sizeof *s->data);
    if (!s->data)
        return rela_study_no_memory(s, err);
    for (size_t i = 0; i < all->n && st == RELA_OK; i++) {
        rela_study_data *d = &s->data[s->n_data++];
        *d = (rela_study_data){ .name = all->keys[i], .line = all->key_lines[i] };
        const rela_tree at = { .path = s->path, .line = d->line };
        st = rela_study_check_name(d->name, &at, err);
        st = st ? st : rela_tree_expect(all->items[i], RELA_TREE_MAP, "a corpus", err);
        st = st ? st : read_entry(d, s, all->items[i], err);
    }
    return st;
}

static rela_status read_entry(rela_study_data *d, rela_study *s, const rela_tree *at,
                              rela_error *err)
{
    static const char *const KEYS[] = { "src",  "tgt",  "corpus", "train", "valid",    "test",
                                        "text", "gold", "tags",   "noise", "examples", NULL };
    const rela_tree *corpus = rela_tree_get(at, "corpus"), *train = rela_tree_get(at, "train");
    rela_status st = rela_tree_check_keys(at, KEYS, "an entry of 'data:'", err);
    st = st ? st : rela_study_take_text(&d->src, at, "src", err);
    st = st ? st : rela_study_take_text(&d->tgt, at, "tgt", err);
    st = st ? st : rela_study_take_settings(&d->text, s, rela_tree_get(at, "text"), NULL, err);
    if (st == RELA_OK && corpus &&
        (train || rela_tree_get(at, "valid") || rela_tree_get(at, "test")))
        st = rela_tree_fail(corpus, err,
                            "'corpus:' makes all texts; leave out train, valid and test");
    if (st == RELA_OK && !corpus && !train)
        st = rela_tree_fail(at, err, "%s: no 'train:' [SRC, TGT] and no 'corpus:'", d->name);
    if (st == RELA_OK && corpus)
        st = read_generated(d, s, corpus, err);
    d->src = d->src ? d->src : d->reverse ? "de" : "en";
    d->tgt = d->tgt ? d->tgt : d->reverse ? "en" : "de";
    if (st == RELA_OK && train)
        st = read_pair(&d->train, "", train, err);
    if (st == RELA_OK && rela_tree_get(at, "valid"))
        st = read_pair(&d->valid, "valid", rela_tree_get(at, "valid"), err);
    if (st == RELA_OK && rela_tree_get(at, "test"))
        st = read_tests(d, s, rela_tree_get(at, "test"), err);
    return st ? st : read_extras(d, at, err);
}

/* Files of the job corpus/DATA: train.src, train.tgt ... */
static rela_status read_generated(rela_study_data *d, rela_study *s, const rela_tree *at,
                                  rela_error *err)
{
    static const char *const SKIP[] = { "reverse", NULL };
    rela_study_pair *test = rela_arena_array(s->arena, 1, sizeof *test);
    if (!test)
        return rela_study_no_memory(s, err);
    rela_status st = rela_study_take_settings(&d->corpus, s, at, SKIP, err);
    st = st ? st : rela_study_take_flag(&d->reverse, rela_tree_get(at, "reverse"), err);
    d->generated = true;
    d->train = (rela_study_pair){ "", "train.src", "train.tgt", at->line };
    d->valid = (rela_study_pair){ "valid", "valid.src", "valid.tgt", at->line };
    *test = (rela_study_pair){ "test", "test.src", "test.tgt", at->line };
    d->tests = test;
    d->n_tests = 1;
    d->gold = d->tags = *test;
    d->gold_links = "test.align";
    d->tags_file = "test.tgt.upos";
    return st;
}

/* [SRC, TGT] or {src: SRC, tgt: TGT}. */
static rela_status read_pair(rela_study_pair *out, const char *name, const rela_tree *at,
                             rela_error *err)
{
    const rela_tree *src = rela_tree_get(at, "src"), *tgt = rela_tree_get(at, "tgt");
    if (at->kind == RELA_TREE_LIST && at->n == 2) {
        src = at->items[0];
        tgt = at->items[1];
    }
    if (!src || !tgt || !*src->text || !*tgt->text)
        return rela_tree_fail(at, err, "expected two files: [SRC, TGT]");
    *out = (rela_study_pair){ name, src->text, tgt->text, at->line };
    return RELA_OK;
}

static rela_status read_tests(rela_study_data *d, rela_study *s, const rela_tree *at,
                              rela_error *err)
{
    if (at->kind == RELA_TREE_TEXT)
        return find_tests(d, s, at, err);
    rela_study_pair *tests = rela_arena_array(s->arena, at->n + 1, sizeof *tests);
    if (!tests)
        return rela_study_no_memory(s, err);
    d->tests = tests;
    if (at->kind == RELA_TREE_LIST) {
        d->n_tests = 1;
        return read_pair(tests, "test", at, err);
    }
    rela_status st = RELA_OK;
    for (size_t i = 0; i < at->n && st == RELA_OK; i++) {
        st = rela_study_check_name(at->keys[i], at->items[i], err);
        st = st ? st : read_pair(&tests[d->n_tests++], at->keys[i], at->items[i], err);
        if (st == RELA_OK && strcmp(at->keys[i], "valid") == 0)
            st = rela_tree_fail(at->items[i], err, "a test set cannot be called 'valid'");
    }
    return st;
}

/* Every source side that matches; glob sorts by name. */
static rela_status find_tests(rela_study_data *d, rela_study *s, const rela_tree *at,
                              rela_error *err)
{
    glob_t found;
    memset(&found, 0, sizeof found);
    const int got = glob(at->text, 0, NULL, &found);
    rela_study_pair *tests = rela_arena_array(s->arena, found.gl_pathc + 1, sizeof *tests);
    rela_status st = RELA_OK;
    if (got == GLOB_NOSPACE || !tests)
        st = rela_study_no_memory(s, err);
    else if (got != 0)
        st = rela_tree_fail(at, err, "no file is named like '%s'", at->text);
    for (size_t i = 0; st == RELA_OK && i < found.gl_pathc; i++)
        st = take_found(&tests[d->n_tests++], s, d, found.gl_pathv[i], at, err);
    d->tests = tests;
    globfree(&found);
    return st;
}

/* dir/test_2016.en.gz: its name is test_2016, its target side dir/test_2016.de.gz. */
static rela_status take_found(rela_study_pair *out, rela_study *s, const rela_study_data *d,
                              const char *path, const rela_tree *at, rela_error *err)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *code = NULL;
    const size_t len = strlen(d->src);
    for (const char *p = base; (p = strchr(p, '.')); p++)
        if (strncmp(p + 1, d->src, len) == 0 && (p[len + 1] == '.' || !p[len + 1]))
            code = p;
    if (!code)
        return rela_tree_fail(at, err, "'%s' has no part '.%s' that says its language", path,
                              d->src);
    const char *name = rela_arena_copy(s->arena, base, (size_t)(code - base));
    const char *src = rela_arena_copy(s->arena, path, strlen(path));
    const char *tgt =
        rela_arena_printf(s->arena, "%.*s.%s%s", (int)(code - path), path, d->tgt, code + 1 + len);
    if (!name || !src || !tgt)
        return rela_study_no_memory(s, err);
    *out = (rela_study_pair){ name, src, tgt, at->line };
    return rela_study_check_name(name, at, err);
}

static rela_status read_extras(rela_study_data *d, const rela_tree *at, rela_error *err)
{
    static const char *const GOLD[] = { "src", "tgt", "links", "reverse", "base", NULL };
    static const char *const NOISE[] = { "src", "tgt", "labels", NULL };
    static const char *const TAGS[] = { "src", "tgt", "tags", NULL };
    const rela_tree *gold = rela_tree_get(at, "gold"), *tags = rela_tree_get(at, "tags");
    const rela_tree *noise = rela_tree_get(at, "noise");
    rela_status st = noise ? rela_tree_check_keys(noise, NOISE, "'noise:'", err) : RELA_OK;
    st = st || !noise ? st : read_pair(&d->noise, "noise", noise, err);
    const rela_tree *examples = rela_tree_get(at, "examples");
    st = st || !examples ? st : read_pair(&d->examples, "examples", examples, err);
    st = st || !noise ? st : rela_study_take_text(&d->noise_labels, noise, "labels", err);
    if (st == RELA_OK && gold) {
        st = rela_tree_check_keys(gold, GOLD, "'gold:'", err);
        st = st ? st : read_pair(&d->gold, "gold", gold, err);
        st = st ? st : rela_study_take_text(&d->gold_links, gold, "links", err);
        st = st ? st : rela_study_take_flag(&d->gold_reverse, rela_tree_get(gold, "reverse"), err);
        st = st ? st : rela_study_take_whole(&d->gold_base, rela_tree_get(gold, "base"), 0, err);
        if (st == RELA_OK && !rela_tree_text(gold, "links"))
            st = rela_tree_fail(gold, err, "no 'links:', the file of gold links");
    }
    if (st == RELA_OK && tags) {
        st = rela_tree_check_keys(tags, TAGS, "'tags:'", err);
        st = st ? st : read_pair(&d->tags, "tags", tags, err);
        st = st ? st : rela_study_take_text(&d->tags_file, tags, "tags", err);
        if (st == RELA_OK && !rela_tree_text(tags, "tags"))
            st = rela_tree_fail(tags, err, "no 'tags:', the file of tags of target words");
    }
    return st;
}

rela_status rela_study_check_files(const rela_study *s, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < s->n_data && st == RELA_OK; i++) {
        const rela_study_data *d = &s->data[i];
        const bool own = d->generated; /* files of the corpus job, unless others are named */
        st = own ? RELA_OK : check_pair(s, &d->train, err);
        st = st || own ? st : check_pair(s, &d->valid, err);
        for (size_t k = 0; k < d->n_tests && st == RELA_OK && !own; k++)
            st = check_pair(s, &d->tests[k], err);
        if (st == RELA_OK && strcmp(d->gold.name ? d->gold.name : "", "gold") == 0) {
            st = check_pair(s, &d->gold, err);
            st = st ? st : check_file(s, d->gold_links, d->gold.line, err);
        }
        if (st == RELA_OK && strcmp(d->tags.name ? d->tags.name : "", "tags") == 0) {
            st = check_pair(s, &d->tags, err);
            st = st ? st : check_file(s, d->tags_file, d->tags.line, err);
        }
        st = st ? st : check_pair(s, &d->noise, err);
        st = st ? st : check_file(s, d->noise_labels, d->noise.line, err);
        st = st || !d->examples.src ? st : check_pair(s, &d->examples, err);
    }
    return st;
}

static rela_status check_pair(const rela_study *s, const rela_study_pair *p, rela_error *err)
{
    const rela_status st = check_file(s, p->src, p->line, err);
    return st ? st : check_file(s, p->tgt, p->line, err);
}

static rela_status check_file(const rela_study *s, const char *path, size_t line, rela_error *err)
{
    const rela_tree at = { .path = s->path, .line = line };
    return !path || rela_file_exists(path) ? RELA_OK
                                           : rela_tree_fail(&at, err, "no file '%s'", path);
}
