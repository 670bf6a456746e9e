/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_safetensors.c - the header of a model file, the configuration in it, and any JSON.
 *
 * Beyond not crashing: a header that is accepted is sorted, unique and without holes; a
 * configuration that is read gives the same text when written, read and written again; quoted bytes
 * can be read back; and what the header scanner accepts is JSON. */
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "format/safetensors.h"
#include "model/config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_header(const rela_header *h, uint64_t data_size)
{
    uint64_t total = 0;
    for (size_t i = 0; i < h->n; i++) {
        const rela_tensor *t = &h->tensors[i];
        uint64_t bytes = 0;
        require(t->name.len > 0 && t->name.len <= RELA_TENSOR_NAME_MAX);
        require(t->rank <= RELA_TENSOR_RANK_MAX && (int)t->dtype < RELA_N_DTYPES);
        require(t->begin <= t->end && t->end <= data_size);
        require(rela_tensor_bytes(&bytes, t) && bytes == t->end - t->begin);
        require(i == 0 || rela_span_compare(t[-1].name, t->name) < 0);
        total += bytes;
    }
    require(total == data_size); /* contiguous and complete: nothing is counted twice */
    for (size_t i = 1; i < h->n_metadata; i++)
        require(rela_span_compare(h->metadata[i - 1].key, h->metadata[i].key) < 0);
}

static void check_config(const char *text, size_t len)
{
    rela_config c, again;
    rela_buffer first = RELA_BUFFER_INIT, second = RELA_BUFFER_INIT;
    if (rela_config_from_json(&c, text, len, NULL) == RELA_OK) {
        (void)rela_config_check(&c, NULL);
        require(rela_config_to_json(&first, &c, NULL) == RELA_OK);
        require(rela_config_from_json(&again, first.data, first.len, NULL) == RELA_OK);
        require(rela_config_to_json(&second, &again, NULL) == RELA_OK);
        require(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    }
    rela_buffer_free(&first);
    rela_buffer_free(&second);
}

static bool is_json(const char *text, size_t len)
{
    rela_json j;
    char *copy = rela_str_copy(text, len);
    require(copy != NULL);
    rela_status st = rela_json_start(&j, copy, len, NULL);
    st = st ? st : rela_json_skip(&j, NULL);
    st = st ? st : rela_json_end(&j, NULL);
    rela_mem_free(copy);
    return st == RELA_OK;
}

static void check_quote(const char *text, size_t len)
{
    rela_buffer quoted = RELA_BUFFER_INIT;
    rela_json j;
    rela_span back;
    require(rela_json_quote(&quoted, text, len, NULL) == RELA_OK);
    require(rela_json_start(&j, quoted.data, quoted.len, NULL) == RELA_OK);
    require(rela_json_string(&j, &back, NULL) == RELA_OK && rela_json_end(&j, NULL) == RELA_OK);
    if (rela_utf8_valid(text, len) == len)
        require(back.len == len && memcmp(back.text, text, len) == 0);
    rela_buffer_free(&quoted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t len = 0;
    if (size < sizeof len)
        return 0;
    for (size_t i = 0; i < sizeof len; i++)
        len |= (uint64_t)data[i] << (8 * i);
    size -= sizeof len;
    if (len > size)
        len = size; /* a length out of range is tested elsewhere */
    const char *header = (const char *)data + sizeof len;
    char *copy = rela_str_copy(header, (size_t)len);
    rela_header h;
    rela_error err;
    require(copy != NULL);
    if (rela_header_parse(&h, copy, (size_t)len, size - len, &err) == RELA_OK) {
        check_header(&h, size - len);
        require(is_json(header, (size_t)len));
        const rela_metadata *m = rela_header_text(&h, "config");
        if (m)
            check_config(m->value.text, m->value.len);
    } else {
        require(err.status == RELA_FORMAT && err.message[0]);
    }
    rela_header_deinit(&h);
    rela_mem_free(copy);
    (void)is_json(header, (size_t)len);
    check_config(header, (size_t)len);
    check_quote(header, (size_t)len);
    return 0;
}
