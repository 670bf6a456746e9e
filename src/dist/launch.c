/* SPDX-License-Identifier: MIT */
/* src/dist/launch.c - see launch.h. */
#include "dist/launch.h"

#include "module_dir.inc"

#include "base/file.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

#define MODULE "librela_mpi.so"

static void *open_beside(const char *file, char why[PATH_BYTES]);
static void *open_module(const char *path, char why[PATH_BYTES]);

size_t rela_launch_size(void)
{
    /* Open MPI; MPICH, Intel MPI; srun, in a step only: the batch script itself is one process */
    static const char *const NAMES[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                         "SLURM_STEP_NUM_TASKS" };
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *text = getenv(NAMES[i]);
        const bool step = i < 2 || getenv("SLURM_PROCID");
        int64_t n = 0;
        if (text && step && rela_parse_i64(&n, text) && n > 0)
            return (size_t)n;
    }
    return 0;
}

rela_status rela_launch_module(const rela_transport **out, rela_error *err)
{
    char why[PATH_BYTES] = "", program[PATH_BYTES] = "";
    const char *named = getenv("RELA_MPI_MODULE");
    Dl_info here = { .dli_fname = NULL };
    void *module = NULL;
    *out = NULL;
    if (named && *named) {
        module = open_module(named, why);
    } else {
        const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
        program[n > 0 ? n : 0] = '\0';
        module = open_beside(program, why);
        if (!module && dladdr((const void *)RELA_TRANSPORT_SYMBOL, &here) && here.dli_fname)
            module = open_beside(here.dli_fname, why);
    }
    if (!module)
        return rela_fail(err, RELA_STATE,
                         "started by mpirun, but the module for MPI cannot be loaded%s%.300s; "
                         "RELA_MPI_MODULE names it",
                         *why ? ": " : "", why);
    const rela_transport *t = dlsym(module, RELA_TRANSPORT_SYMBOL);
    if (!t || t->version != RELA_TRANSPORT_VERSION)
        return rela_fail(err, RELA_STATE, "the module for MPI is of version %d; expected %d",
                         t ? t->version : 0, RELA_TRANSPORT_VERSION);
    *out = t;
    return RELA_OK;
}

/* Looks in the folder of a program or library, and in the install folder relative to it. */
static void *open_beside(const char *file, char why[PATH_BYTES])
{
    static const char *const PLACES[] = { MODULE, "rela/" MODULE, RELA_MODULE_DIR "/" MODULE };
    const char *slash = strrchr(file, '/');
    void *module = NULL;
    for (size_t i = 0; slash && i < sizeof PLACES / sizeof PLACES[0] && !module; i++) {
        char path[PATH_BYTES];
        rela_format_text(path, sizeof path, "%.*s/%s", (int)(slash - file), file, PLACES[i]);
        if (rela_file_exists(path)) /* only failures to load an existing file are reported */
            module = open_module(path, why);
    }
    return module;
}

/* RTLD_GLOBAL: plug-ins that Open MPI loads in turn find its symbols in the global scope only. */
static void *open_module(const char *path, char why[PATH_BYTES])
{
    void *module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    const char *text = module ? NULL : dlerror();
    if (text)
        rela_format_text(why, PATH_BYTES, "%s", text);
    return module;
}
