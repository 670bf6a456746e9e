/* SPDX-License-Identifier: MIT */
/* src/dist/build_id.c - see build_id.h. */
#include "dist/build_id.h"

#include "base/str.h"

#include <elf.h>
#include <link.h>
#include <string.h>

static int look(struct dl_phdr_info *object, size_t size, void *out);

void rela_build_id(char out[RELA_BUILD_ID_MAX])
{
    rela_format_text(out, RELA_BUILD_ID_MAX, "unknown");
    (void)dl_iterate_phdr(look, out);
}

static bool holds(const struct dl_phdr_info *object, const void *place)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        const ElfW(Addr) at = (ElfW(Addr))place - object->dlpi_addr;
        if (p->p_type == PT_LOAD && at >= p->p_vaddr && at - p->p_vaddr < p->p_memsz)
            return true;
    }
    return false;
}

/* An ELF note is a header, a name and a value, each padded to four bytes. */
static bool read_notes(char *out, const char *at, size_t len)
{
    while (len >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, at, sizeof note);
        const size_t name = (note.n_namesz + 3U) & ~3U, value = (note.n_descsz + 3U) & ~3U;
        const size_t all = sizeof note + name + value;
        if (all > len)
            return false;
        const unsigned char *id = (const unsigned char *)at + sizeof note + name;
        if (note.n_type == NT_GNU_BUILD_ID && 2 * note.n_descsz < RELA_BUILD_ID_MAX) {
            for (size_t i = 0; i < note.n_descsz; i++)
                rela_format_text(out + 2 * i, 3, "%02x", id[i]);
            return true;
        }
        at += all;
        len -= all;
    }
    return false;
}

static int look(struct dl_phdr_info *object, size_t size, void *out)
{
    static const char HERE;
    (void)size;
    if (!holds(object, &HERE))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        const void *notes = (const void *)(object->dlpi_addr + p->p_vaddr); /* NOLINT: an address */
        if (p->p_type == PT_NOTE && read_notes(out, notes, p->p_memsz))
            return 1;
    }
    return 1;
}
