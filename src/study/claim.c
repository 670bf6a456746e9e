/* SPDX-License-Identifier: MIT */
/* src/study/claim.c - see claim.h. */
#include "study/claim.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"

#include <string.h>
#include <unistd.h>

enum { MACHINE_SIZE = 128, SMALL_FILE_MAX = 4096 };

/* In place of the start time of a process that has ended. */
static const char GONE[] = "gone";

static void name_machine(char out[MACHINE_SIZE]);
static void read_small(char *out, size_t size, const char *path);
static void name_process(char out[RELA_CLAIM_HOLDER_SIZE], long pid);
static bool is_alive(const char *path, const char *holder);
static rela_status take_over(bool *got, char holder[RELA_CLAIM_HOLDER_SIZE], const char *path,
                             const char *own, rela_error *err);

rela_status rela_claim_take(bool *got, char holder[RELA_CLAIM_HOLDER_SIZE], const char *path,
                            rela_error *err)
{
    char own[RELA_CLAIM_HOLDER_SIZE];
    bool taken = false;
    name_process(own, (long)getpid());
    *got = false;
    *holder = '\0';
    const rela_status st = rela_file_create(&taken, path, own, strlen(own), err);
    if (st != RELA_OK || !taken) {
        *got = st == RELA_OK;
        return st;
    }
    read_small(holder, RELA_CLAIM_HOLDER_SIZE, path);
    return is_alive(path, holder) ? RELA_OK : take_over(got, holder, path, own, err);
}

/* One process at a time: otherwise a second one could remove the new claim of the first. */
static rela_status take_over(bool *got, char holder[RELA_CLAIM_HOLDER_SIZE], const char *path,
                             const char *own, rela_error *err)
{
    rela_buffer name = RELA_BUFFER_INIT;
    rela_lock *lock = NULL;
    rela_status st = rela_buffer_printf(&name, err, "%s.lock", path);
    if (st == RELA_OK) {
        st = rela_lock_open(&lock, name.data, err);
        if (st == RELA_STATE) { /* another process is about to take it */
            rela_buffer_free(&name);
            return RELA_OK;
        }
    }
    if (st == RELA_OK) {
        read_small(holder, RELA_CLAIM_HOLDER_SIZE, path);
        bool taken = is_alive(path, holder);
        if (!taken) {
            st = rela_file_remove(path, err);
            st = st ? st : rela_file_create(&taken, path, own, strlen(own), err);
            *got = st == RELA_OK && !taken;
        }
    }
    rela_lock_close(lock);
    rela_buffer_free(&name);
    return st;
}

bool rela_claim_held(const char *path)
{
    char holder[RELA_CLAIM_HOLDER_SIZE];
    rela_file_mark mark;
    if (!rela_file_look(&mark, path))
        return false;
    read_small(holder, sizeof holder, path);
    return is_alive(path, holder);
}

bool rela_claim_process_alive(long pid)
{
    char name[RELA_CLAIM_HOLDER_SIZE];
    name_process(name, pid);
    const char *start = strrchr(name, ' ');
    return start && strcmp(start + 1, GONE) != 0;
}

rela_status rela_claim_beat(const char *path, rela_error *err)
{
    return rela_file_touch(path, err);
}

rela_status rela_claim_drop(const char *path, rela_error *err)
{
    return rela_file_remove(path, err);
}

/* A claim that is being written is empty for a moment. */
static bool is_alive(const char *path, const char *holder)
{
    char machine[MACHINE_SIZE], now[RELA_CLAIM_HOLDER_SIZE];
    enum { NANO = 1000000000, FRESH = 5 };
    rela_file_mark mark;
    if (!rela_file_look(&mark, path))
        return false;
    const double age = rela_clock_since_1970() - (double)mark.changed / NANO;
    name_machine(machine);
    const char *at = strchr(holder, ' ');
    if (!at)
        return age < FRESH;
    if (strncmp(holder, machine, (size_t)(at - holder)) != 0 ||
        strlen(machine) != (size_t)(at - holder))
        return age < RELA_CLAIM_SILENT;
    int64_t pid = 0;
    char digits[32] = "";
    rela_format_text(digits, sizeof digits, "%.*s", (int)strcspn(at + 1, " "), at + 1);
    if (!rela_parse_i64(&pid, digits) || pid <= 0)
        return age < RELA_CLAIM_SILENT;
    name_process(now, (long)pid);
    return strcmp(now, holder) == 0;
}

/* Machine, process and its start time: a later process of the same number is another one. */
static void name_process(char out[RELA_CLAIM_HOLDER_SIZE], long pid)
{
    enum { START_FIELD = 20 }; /* counted from the one after the name of the program */
    char machine[MACHINE_SIZE], path[64], text[SMALL_FILE_MAX];
    name_machine(machine);
    rela_format_text(path, sizeof path, "/proc/%ld/stat", pid);
    read_small(text, sizeof text, path);
    const char *at = strrchr(text, ')');
    for (int i = 0; at && i < START_FIELD; i++) {
        at = strchr(at + 1, ' ');
        if (i == 0 && at && at[1] == 'Z') /* ended, and its parent has not asked yet */
            at = NULL;
    }
    rela_format_text(out, RELA_CLAIM_HOLDER_SIZE, "%s %ld %.*s", machine, pid,
                     at ? (int)strcspn(at + 1, " ") : (int)strlen(GONE), at ? at + 1 : GONE);
}

static void name_machine(char out[MACHINE_SIZE])
{
    char host[64] = "", boot[64] = "", space[64] = "";
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    for (char *p = host; *p; p++)
        *p = *p == ' ' ? '_' : *p;
    read_small(boot, sizeof boot, "/proc/sys/kernel/random/boot_id");
    const ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[n > 0 ? n : 0] = '\0';
    rela_format_text(out, MACHINE_SIZE, "%s/%.8s/%s", host, boot, space);
}

/* "" if it cannot be read. */
static void read_small(char *out, size_t size, const char *path)
{
    rela_reader *r = NULL;
    size_t len = 0;
    out[0] = '\0';
    if (rela_reader_open(&r, path, NULL, NULL) == RELA_OK &&
        rela_reader_bytes(r, out, size - 1, &len, NULL) == RELA_OK) {
        out[len] = '\0';
        out[strcspn(out, "\n")] = '\0';
    }
    rela_reader_close(r);
}
