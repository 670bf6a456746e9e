/* SPDX-License-Identifier: MIT */
/* src/dist/machine.c - see machine.h. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "dist/machine.h"

#include "base/par.h"
#include "base/str.h"
#include "dist/launch.h"
#include "kern/kern.h"

#include <dnnl.h>
#include <jansson.h>
#include <pcre2.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utf8proc.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

static void version_dnnl(char out[RELA_LIBRARY_VERSION])
{
    const dnnl_version_t *v = dnnl_version();
    rela_format_text(out, RELA_LIBRARY_VERSION, "%d.%d.%d", v->major, v->minor, v->patch);
}

static void version_zlib(char out[RELA_LIBRARY_VERSION])
{
    rela_format_text(out, RELA_LIBRARY_VERSION, "%s", zlibVersion());
}

static void version_zstd(char out[RELA_LIBRARY_VERSION])
{
    rela_format_text(out, RELA_LIBRARY_VERSION, "%s", ZSTD_versionString());
}

static void version_xxhash(char out[RELA_LIBRARY_VERSION])
{
    const unsigned v = XXH_versionNumber(); /* 802 is 0.8.2 */
    rela_format_text(out, RELA_LIBRARY_VERSION, "%u.%u.%u", v / 10000, v / 100 % 100, v % 100);
}

static void version_utf8proc(char out[RELA_LIBRARY_VERSION])
{
    rela_format_text(out, RELA_LIBRARY_VERSION, "%s", utf8proc_version());
}

static void version_pcre2(char out[RELA_LIBRARY_VERSION])
{
    char text[RELA_LIBRARY_VERSION] = ""; /* "10.42 2022-12-11" */
    if (pcre2_config(PCRE2_CONFIG_VERSION, NULL) < RELA_LIBRARY_VERSION)
        (void)pcre2_config(PCRE2_CONFIG_VERSION, text);
    rela_format_text(out, RELA_LIBRARY_VERSION, "%.*s", (int)strcspn(text, " "), text);
}

static void version_jansson(char out[RELA_LIBRARY_VERSION])
{
    rela_format_text(out, RELA_LIBRARY_VERSION, "%s", JANSSON_VERSION);
}

const char *rela_machine_level(void)
{
    return rela_kern_get()->name;
}

const char *rela_machine_library(char version[RELA_LIBRARY_VERSION], size_t i)
{
    static const struct {
        const char *name;
        void (*version)(char out[RELA_LIBRARY_VERSION]);
    } LIBRARIES[] = { { "oneDNN", version_dnnl },       { "zlib", version_zlib },
                      { "zstd", version_zstd },         { "xxHash", version_xxhash },
                      { "utf8proc", version_utf8proc }, { "PCRE2", version_pcre2 },
                      { "jansson", version_jansson } };
    if (i >= sizeof LIBRARIES / sizeof LIBRARIES[0])
        return NULL;
    LIBRARIES[i].version(version);
    return LIBRARIES[i].name;
}

bool rela_machine_mpi(void)
{
    const rela_transport *module = NULL;
    return rela_launch_module(&module, NULL) == RELA_OK;
}

rela_processors rela_processors_count(void)
{
    cpu_set_t set;
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
    return (rela_processors){ known ? CPU_COUNT(&set) : all, all };
}

int rela_world_threads(const rela_world *w, int requested)
{
    const rela_processors p = rela_processors_count();
    const int local = (int)rela_world_local_size(w), n = rela_par_threads(0);
    if (requested > 0 || local == 1 || getenv("OMP_NUM_THREADS") || p.allowed < p.all)
        return requested;
    const int extra = rela_world_local_rank(w) < (size_t)(n % local);
    return n > local ? n / local + extra : 1;
}
