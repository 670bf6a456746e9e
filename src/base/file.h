/* SPDX-License-Identifier: MIT */
/* src/base/file.h - the only caller of open, read, write, fsync, rename.
 *
 * Reading: plain, gzip and zstd, recognised by content and not by name. A truncated or damaged
 * stream, trailing garbage, a file that changes size while it is read, and a compression ratio that
 * suggests a decompression bomb are errors, never a silent end of file.
 * Writing: under a temporary name in the same directory, then flush, fsync, rename and fsync of
 * the directory, so the final name holds either the old contents or all of the new. Several files
 * that belong together are replaced as a set.
 * A path of "-" is standard input or output. One thread at a time per object. */
#ifndef RELA_BASE_FILE_H
#define RELA_BASE_FILE_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rela_reader rela_reader;
typedef struct rela_writer rela_writer;

typedef struct rela_reader_options {
    size_t max_line;    /* bytes; 0: RELA_LINE_MAX */
    uint32_t max_ratio; /* decoded to stored bytes, checked after 16 MiB decoded; 0: 200 */
    bool any_ratio;     /* no limit on the ratio */
} rela_reader_options;

enum { RELA_LINE_MAX = 64 << 20 };

/* One line without its line end. Only LF ends a line; one CR before it is removed. The last line
 * may lack its LF. */
typedef struct rela_line {
    const char *text; /* lent until the next call; NULL at the end of the input */
    size_t len;
    uint64_t number; /* from 1 */
    bool too_long;   /* longer than max_line: text holds the first max_line bytes */
    bool had_cr;     /* a CR before the LF was removed */
} rela_line;

/* options may be NULL. */
rela_status rela_reader_open(rela_reader **out, const char *path,
                             const rela_reader_options *options, rela_error *err);
void rela_reader_close(rela_reader *r); /* NULL is fine */

/* Decoded bytes; *got 0 at the end. */
rela_status rela_reader_bytes(rela_reader *r, char *out, size_t size, size_t *got, rela_error *err);

/* The next line. A byte order mark at the start of the input is removed. */
rela_status rela_reader_line(rela_reader *r, rela_line *line, rela_error *err);

/* Replaces the contents of block with whole lines, each ended by LF, of about want bytes in total;
 * fewer if reading on would block (a terminal, a slow pipe). block->len is 0 at the end of the
 * input. *first is the number of the first line. A line over max_line is an error that names it,
 * reported after the lines before it have been returned. */
rela_status rela_reader_block(rela_reader *r, rela_buffer *block, uint64_t *first, size_t want,
                              rela_error *err);

/* Byte offset of the next line in a plain file; UINT64_MAX if unknown (compressed, a pipe, nothing
 * read yet). rela_reader_lines: the number of lines before it. */
uint64_t rela_reader_place(const rela_reader *r);
uint64_t rela_reader_lines(const rela_reader *r);
/* Seeks to the line at byte offset place, which has the given number of lines before it. place
 * UINT64_MAX: reads forward to that line, which must not have been read yet. */
rela_status rela_reader_seek(rela_reader *r, uint64_t place, uint64_t lines, rela_error *err);

const char *rela_reader_name(const rela_reader *r);  /* for messages; lent */
uint64_t rela_reader_position(const rela_reader *r); /* stored bytes read so far */
uint64_t rela_reader_size(const rela_reader *r);     /* total stored bytes; 0 if unknown */
bool rela_reader_had_mark(const rela_reader *r);     /* a byte order mark was removed */

/* Walks the lines of a block filled by rela_reader_block; false at the end. */
bool rela_next_line(rela_span *line, const char **at, const char *end);

/* The whole decoded file, followed by a NUL; free with rela_mem_free. max_size 0: no limit. */
rela_status rela_file_read(char **out, size_t *len, const char *path, size_t max_size,
                           rela_error *err);
/* The same for a text file of short lines: a line over max_line bytes, or one that is not UTF-8, is
 * RELA_FORMAT with its number as soon as it is read, so that the wrong kind of file (a device, a
 * model) does not fill memory first. */
rela_status rela_file_read_lines(char **out, size_t *len, const char *path, size_t max_size,
                                 size_t max_line, rela_error *err);
/* The number of lines of a text file, which is read once for it. */
rela_status rela_file_count_lines(uint64_t *n, const char *path, rela_error *err);

/* A regular file (or one that does not exist yet) is replaced atomically at commit and keeps its
 * permissions; a symbolic link stays and its target is replaced; anything else, like a device or a
 * pipe, is written directly. Compressed if the name ends in .gz or .zst. */
rela_status rela_writer_open(rela_writer **out, const char *path, rela_error *err);
rela_status rela_writer_write(rela_writer *w, const char *bytes, size_t len, rela_error *err);
rela_status rela_writer_flush(rela_writer *w, rela_error *err);
/* Always frees w. Fails if an earlier write failed. On failure the old file is untouched, unless
 * only the final sync of the directory failed: then the new file is in place, complete. */
rela_status rela_writer_commit(rela_writer *w, rela_error *err);
void rela_writer_abort(rela_writer *w); /* discards what was written, frees w; NULL is fine */
/* Commits if st, the status of the writes so far, is RELA_OK; otherwise aborts and returns st. */
rela_status rela_writer_finish(rela_writer *w, rela_status st, rela_error *err);
/* Removes the temporary files of all open writers, and temporary directories with their contents.
 * Async-signal-safe; for a handler that ends the process: afterwards no writer can be opened or
 * closed. */
void rela_file_abort_all(void);
/* Is it the name of such a temporary file? A process that was killed leaves them behind. */
bool rela_file_temporary(const char *name);
/* Removes those that killed processes have left of a target, or of all files in it if it is a
 * directory. Files that a process is still writing are left alone. */
void rela_file_sweep(const char *target);

/* All at once: open, write, commit. */
rela_status rela_file_write(const char *path, const char *bytes, size_t len, rela_error *err);

/* Files that belong together, like weights and vocabularies: writers of a set put nothing in place
 * when they commit; the set does so for all. A failure leaves all old files. If the process is
 * killed meanwhile, some old ones may be missing, or some new ones, the last one among them, but
 * old and new files never stand side by side. A file that is written directly (see
 * rela_writer_open) is not part of this. One thread at a time. */
typedef struct rela_file_set rela_file_set;
rela_status rela_file_set_create(rela_file_set **out, rela_error *err);
/* set NULL: as rela_writer_open, rela_file_write. */
rela_status rela_writer_open_in(rela_writer **out, rela_file_set *set, const char *path,
                                rela_error *err);
rela_status rela_file_write_in(rela_file_set *set, const char *path, const char *bytes, size_t len,
                               rela_error *err);
/* A file that is not wanted any more; nothing is done if there is none, or the set has a new one.
 */
rela_status rela_file_set_remove(rela_file_set *s, const char *path, rela_error *err);
/* Where the file with this path is now, for reading it back; path itself if it is not in the set,
 * or s NULL. Lent. */
const char *rela_file_set_find(const rela_file_set *s, const char *path);
/* Replaces all files if st, the status so far, is RELA_OK; otherwise discards the new ones and
 * returns st. Frees s; NULL is fine. Writers of the set must be closed. */
rela_status rela_file_set_finish(rela_file_set *s, rela_status st, rela_error *err);

/* Creates the directory and its parents; fine if it exists. */
rela_status rela_dir_make(const char *path, rela_error *err);
bool rela_file_exists(const char *path);
rela_status rela_file_remove(const char *path, rela_error *err); /* fine if it does not exist */
/* Within one file system; replaces an existing file. */
rela_status rela_file_rename(const char *from, const char *to, rela_error *err);
bool rela_dir_exists(const char *path);
/* Was a modified before b? False if one of them is not there. */
bool rela_file_older(const char *a, const char *b);
/* Would writing one path replace the file at the other? Links and dots are resolved, and a file
 * need not exist yet. Never true for anything but regular files ("-" is not one), nor for two hard
 * links, as replacing one leaves the other. */
bool rela_file_same(const char *a, const char *b);
/* Is there anything with this name, even a dangling link? */
bool rela_name_taken(const char *path);

/* A regular file with random access to its stored bytes. Anything else (a directory, pipe or
 * device) is refused without blocking. Any number of threads may read at once. */
typedef struct rela_blob rela_blob;
rela_status rela_blob_open(rela_blob **out, const char *path, rela_error *err);
/* The same for bytes in memory, lent until it is closed; name: for messages. */
rela_status rela_blob_open_memory(rela_blob **out, const char *name, const char *bytes, size_t len,
                                  rela_error *err);
/* Exactly len bytes, or an error: RELA_FORMAT if the file was truncated meanwhile. */
rela_status rela_blob_read(const rela_blob *b, void *bytes, size_t len, uint64_t at,
                           rela_error *err);
/* Maps the whole file, until the blob is closed. If the file is truncated meanwhile, reading past
 * its new end kills the process (SIGBUS): check often, or use rela_blob_read. */
rela_status rela_blob_map(rela_blob *b, const char **bytes, rela_error *err);
rela_status rela_blob_check(const rela_blob *b, rela_error *err); /* fails if the size changed */
void rela_blob_close(rela_blob *b);                               /* NULL is fine */
uint64_t rela_blob_size(const rela_blob *b);                      /* when it was opened */
const char *rela_blob_name(const rela_blob *b);                   /* lent */

/* An anonymous scratch file in dir (NULL: TMPDIR or /tmp), gone when closed or after a crash. */
typedef struct rela_scratch rela_scratch;
rela_status rela_scratch_open(rela_scratch **out, const char *dir, rela_error *err);
rela_status rela_scratch_write(rela_scratch *s, const void *bytes, size_t len, uint64_t at,
                               rela_error *err);
rela_status rela_scratch_read(rela_scratch *s, void *bytes, size_t len, uint64_t at,
                              rela_error *err); /* exactly len bytes, or an error */
void rela_scratch_close(rela_scratch *s);       /* NULL is fine */

/* A lock on a directory or job, held until closed or until the process ends, however it ends. The
 * lock file stays; it contains one line that names the holder. If another process holds the lock,
 * RELA_STATE with that line; RELA_STATE too for a link and for a file with other contents, which
 * are left alone. */
typedef struct rela_lock rela_lock;
rela_status rela_lock_open(rela_lock **out, const char *path, rela_error *err);
bool rela_lock_left(const char *path); /* is it a lock file, held or not? */
void rela_lock_close(rela_lock *l);    /* NULL is fine */

/* A file that is appended to. keep: bytes of an existing file to keep (UINT64_MAX: all). */
typedef struct rela_appender rela_appender;
rela_status rela_appender_open(rela_appender **out, const char *path, uint64_t keep,
                               rela_error *err);
rela_status rela_appender_write(rela_appender *a, const char *bytes, size_t len, rela_error *err);
/* Locks the file itself, as rela_lock_open does: RELA_STATE if another process has it. */
rela_status rela_appender_lock(rela_appender *a, rela_error *err);
rela_status rela_appender_cut(rela_appender *a, uint64_t keep, rela_error *err);
void rela_appender_close(rela_appender *a); /* NULL is fine */

/* Calls on_name for every entry of a directory except . and .., in no particular order. */
rela_status rela_dir_list(const char *path,
                          rela_status (*on_name)(void *ctx, const char *name, rela_error *err),
                          void *ctx, rela_error *err);

/* Creates a directory in TMPDIR or /tmp that only this user can access, to be removed with
 * rela_dir_remove; its name replaces the contents of out. */
rela_status rela_dir_temporary(rela_buffer *out, rela_error *err);
rela_status rela_dir_remove(const char *path, rela_error *err); /* with all its contents */
rela_status rela_dir_remove_empty(const char *path, rela_error *err);

/* What tells whether a file has changed. */
typedef struct rela_file_mark {
    uint64_t size, inode;
    int64_t changed; /* nanoseconds since 1970 */
} rela_file_mark;
bool rela_file_look(rela_file_mark *out, const char *path); /* false: no regular file there */

/* Creates a file that must not exist yet. *taken: it does, and is left alone. */
rela_status rela_file_create(bool *taken, const char *path, const char *bytes, size_t len,
                             rela_error *err);
rela_status rela_file_touch(const char *path, rela_error *err); /* it has changed now */
/* Replaces a small file as a whole, but without waiting until it is durable: for notes that can be
 * made again. */
rela_status rela_file_note(const char *path, const char *bytes, size_t len, rela_error *err);
/* A symbolic link; one that exists under this name is replaced, anything else is an error. */
rela_status rela_file_link(const char *target, const char *path, rela_error *err);
/* Makes the contents of a file, or the names in a directory, durable. */
rela_status rela_file_sync(const char *path, rela_error *err);
/* Copies the stored bytes of a file, whatever its name ends in; durable, and complete or not there
 * at all. */
rela_status rela_file_copy(const char *from, const char *to, rela_error *err);
/* The absolute name of an existing file or directory, without links and dots; replaces *out. */
rela_status rela_file_absolute(rela_buffer *out, const char *path, rela_error *err);

/* Bytes free for this user in the file system of path; 0 if unknown. */
uint64_t rela_disk_free(const char *path);

/* Bytes of memory that this process can still allocate safely, judging by the system, its cgroup
 * and the limits of the process; 0 if unknown. Page cache of the cgroup counts as free, as the
 * kernel reclaims it. */
uint64_t rela_memory_available(void);
/* The same for a system whose /proc and /sys are below root, without the limits of the process. */
uint64_t rela_memory_available_below(const char *root);

/* Bytes that RLIMIT_AS and RLIMIT_DATA leave this process; UINT64_MAX without such limits. */
uint64_t rela_address_available(void);

#endif
