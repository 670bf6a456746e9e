/* SPDX-License-Identifier: MIT */
/* tests/unit/test_api_fork.c - threads and processes: no thread is left after the runtime, and a
 * child of fork can use all of the library. */
#include "api_model.h"
#include "rela/metric.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, PATIENCE = 60 };

static int threads_of_process(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = 0;
    for (const struct dirent *e = NULL; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (d)
        (void)closedir(d);
    return n;
}

static void translate(world *w, rela_result **r)
{
    rela_error err = { RELA_OK, "" };
    CHECK_OK(rela_translate(r, w->session, texts, NULL, TEXTS, NULL, &err), err);
}

static void no_thread_is_left_after_the_runtime(void **state)
{
    (void)state;
    world w;
    rela_result *r = NULL;
    const int before = threads_of_process();
    world_start(&w, THREADS);
    translate(&w, &r);
    CHECK(threads_of_process() >= before + THREADS - 1, "%d threads", threads_of_process());
    rela_result_free(r);
    world_end(&w);
    CHECK(threads_of_process() == before, "%d threads; expected %d", threads_of_process(), before);
}

static double bleu_on_threads(void)
{
    rela_error err = { RELA_OK, "" };
    rela_metric *m = NULL;
    rela_segment segments[TEXTS];
    size_t lens[TEXTS];
    uint32_t stats[TEXTS * RELA_STATS_MAX];
    uint64_t sums[RELA_STATS_MAX] = { 0 };
    CHECK_OK(rela_metric_create_bleu(&m, NULL, &err), err);
    for (size_t i = 0; i < TEXTS; i++) {
        lens[i] = strlen(texts[i]);
        segments[i] = (rela_segment){ texts[i], lens[i], &texts[i], &lens[i], 1 };
    }
    CHECK_OK(rela_metric_count(stats, m, segments, TEXTS, THREADS, &err), err);
    rela_stats_add(sums, stats, TEXTS, rela_metric_n_stats(m));
    const double score = rela_metric_score(m, sums);
    rela_metric_destroy(m);
    return score;
}

/* In the child: what was loaded before the fork, what is loaded after it, and scores. */
static bool works(world *old, const char *want)
{
    world w;
    rela_result *a = NULL, *b = NULL;
    translate(old, &a);
    world_start(&w, THREADS);
    translate(&w, &b);
    const bool same = strcmp(rela_result_text(a, 0, 0), want) == 0 &&
                      strcmp(rela_result_text(b, 0, 0), want) == 0;
    rela_result_free(a);
    rela_result_free(b);
    world_end(&w);
    return same && bleu_on_threads() > 0;
}

static void a_child_computes_and_ends(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    printf("skipped: ThreadSanitizer ends children that start threads\n");
#else
    world w;
    rela_result *r = NULL;
    world_start(&w, THREADS);
    translate(&w, &r);
    CHECK(bleu_on_threads() > 0, "no score");
    for (int i = 0; i < 3; i++) {
        (void)fflush(stdout);
        const pid_t child = fork();
        CHECK(child >= 0, "fork failed");
        if (child == 0) {
            (void)alarm(PATIENCE);
            _exit(works(&w, rela_result_text(r, 0, 0)) ? 0 : 1);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child, "no child");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status %d",
              status);
        rela_result_free(r); /* and the parent goes on */
        translate(&w, &r);
    }
    rela_result_free(r);
    world_end(&w);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_thread_is_left_after_the_runtime),
        cmocka_unit_test(a_child_computes_and_ends),
    };
    return cmocka_run_group_tests(tests, make_model, remove_model);
}
