/* SPDX-License-Identifier: MIT */
/* tests/unit/test_plot.c - figures of every format are written whole, or not at all. */
#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "figure/bars.h"
#include "figure/heatmap.h"
#include "figure/plot.h"
#include "scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double X
[] = { 0, 100, 200, 300 };
static const double Y[] = { 9.5, 6.25, NAN, 4.125 };
static const double Z[] = { 8, 7, 6, 5 };
static const rela_series SERIES[] = { { "first", X, Y, 4 }, { "second", X, Z, 4 } };
static const rela_plot PLOT = { .title = "loss",
                                .x_label = "update",
                                .y_label = "nll",
                                .series = SERIES,
                                .n_series = 2,
                                .markers = true };

static void path_of(char *out, size_t size, const char *name)
{
    (void)snprintf(out, size, "%s/%s", scratch_dir, name);
}

static void every_format_is_recognised_by_its_name(void **state)
{
    (void)state;
    static const char *const CASES[][2] = { { "a.svg", "<?xml" },
                                            { "a.png", "\x89PNG" },
                                            { "a.pdf", "%PDF" } };
    for (size_t i = 0; i < 3; i++) {
        char path[SCRATCH_PATH], *bytes = NULL;
        size_t len = 0;
        rela_error err = { RELA_OK, "" };
        path_of(path, sizeof path, CASES[i][0]);
        CHECK_OK(rela_plot_save(&PLOT, NULL, path, &err), err);
        CHECK_OK(rela_file_read(&bytes, &len, path, 0, &err), err);
        CHECK(len > 1000 && memcmp(bytes, CASES[i][1], strlen(CASES[i][1])) == 0, "%s: %zu bytes",
              path, len);
        rela_mem_free(bytes);
        (void)unlink(path);
    }
}

/* The same figure gives the same file on every day. */
static void a_file_holds_no_date(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "o.svg", "o.png", "o.pdf" };
    for (size_t i = 0; i < 3; i++) {
        char path[SCRATCH_PATH];
        size_t len = 0;
        rela_error err = { RELA_OK, "" };
        path_of(path, sizeof path, NAMES[i]);
        CHECK_OK(rela_plot_save(&PLOT, NULL, path, &err), err);
        char *bytes = slurp(path, &len);
        for (size_t k = 0; k + 4 < len; k++)
            CHECK(memcmp(bytes + k, "Date", 4) != 0, "%s: %.40s", NAMES[i], bytes + k);
        free(bytes);
        (void)unlink(path);
    }
}

static void another_ending_is_refused(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    rela_error err = { RELA_OK, "" };
    path_of(path, sizeof path, "a.jpg");
    CHECK(rela_plot_save(&PLOT, NULL, path, &err) == RELA_ARG, "accepted");
    CHECK(strstr(err.message, ".svg"), "message: %s", err.message);
    CHECK(!rela_file_exists(path), "left a file");
}

static void empty_and_flat_data_can_be_drawn(void **state)
{
    (void)state;
    static const double FLAT[] = { 0, 0, 0, 0 }, NEGATIVE[] = { -1, -2, -3, -4 };
    const rela_series series[] = { { NULL, X, FLAT, 4 },
                                   { "none", X, NULL, 0 },
                                   { "n", X, NEGATIVE, 4 } };
    const rela_plot plots[] = {
        { .title = "flat", .series = series, .n_series = 1 },
        { .title = "empty", .series = series + 1, .n_series = 1 },
        { .title = "log", .series = series, .n_series = 3, .log_y = true }
    };
    for (size_t i = 0; i < 3; i++) {
        char path[SCRATCH_PATH];
        rela_error err = { RELA_OK, "" };
        path_of(path, sizeof path, "b.svg");
        CHECK_OK(rela_plot_save(&plots[i], NULL, path, &err), err);
        (void)unlink(path);
    }
}

static void panels_bars_and_maps_of_anything_can_be_drawn(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "one", "zwei", "<&> \xC3\xA4" };
    static const double VALUES[] = { 0, 0, 0, 1, 0.5, NAN, 3, -1, 2 };
    static const rela_style STYLES[] = { { 0, 1, false }, { 9, 2, true } };
    const rela_plot panels[] = {
        { .series = SERIES, .styles = STYLES, .n_series = 2, .whole_x = true, .y_high = 20 },
        { .series = SERIES, .n_series = 2 }
    };
    const rela_bars bars[] = { { "t", "y", NAMES, NAMES, 3, 3, VALUES, 1 },
                               { NULL, NULL, NULL, NULL, 0, 0, NULL, 0 } };
    const rela_heatmap maps[] = { { "null row", NAMES, NAMES, 3, 3, VALUES, .null_rows = true },
                                  { "numbers", NAMES, NAMES, 3, 3, VALUES, .numbers = true,
                                    .high = 1 },
                                  { .title = NULL } };
    static const char *const FILES[] = { "d.svg", "d.png", "d.pdf" };
    for (size_t i = 0; i < 3; i++) {
        char path[SCRATCH_PATH];
        rela_error err = { RELA_OK, "" };
        path_of(path, sizeof path, FILES[i]);
        for (size_t k = 1; k < 4; k++) /* one below the other, side by side, room to spare */
            CHECK_OK(rela_plots_save(panels, 2, k, NULL, path, &err), err);
        for (size_t k = 0; k < 2; k++)
            for (double width = 0; width <= 1000; width += 500)
                CHECK_OK(rela_bars_save(&bars[k], width, NULL, path, &err), err);
        CHECK_OK(rela_heatmaps_save(maps, 3, 300, "caption", NULL, path, &err), err);
        CHECK_OK(rela_heatmaps_save(maps + 2, 1, 1, NULL, NULL, path, &err), err);
        CHECK_OK(rela_heatmaps_save(maps + 2, 0, 1, NULL, NULL, path, &err), err);
        (void)unlink(path);
    }
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* The text of an SVG; freed with rela_mem_free. */
static char *read_svg(const char *path)
{
    char *bytes = NULL;
    size_t len = 0;
    rela_error err = { RELA_OK, "" };
    CHECK_OK(rela_file_read(&bytes, &len, path, 0, &err), err);
    (void)unlink(path);
    return bytes;
}

static void text_of_an_svg_stays_text(void **state)
{
    (void)state;
    static const char *const ROWS[] = { "<&> \xC3\xA4", "url(#a)" };
    static const char *const COLUMNS[] = { "\x01\"b" };
    static const char *const WANT[] = { ">&lt;&amp;&gt; \xC3\xA4</text>",
                                        ">url(&#35;a)</text>",
                                        ">\xEF\xBF\xBD&quot;b</text>",
                                        ">over all</text>",
                                        "rotate(-60.00 ",
                                        "</g>\n</svg>" };
    static const double VALUES[] = { 0, 1 };
    const rela_heatmap map = { "map", ROWS, COLUMNS, 2, 1, VALUES, .null_rows = true };
    char path[SCRATCH_PATH];
    rela_error err = { RELA_OK, "" };
    path_of(path, sizeof path, "e.svg");
    CHECK_OK(rela_heatmaps_save(&map, 1, 0, "over all", NULL, path, &err), err);
    char *svg = read_svg(path);
    for (size_t i = 0; i < sizeof WANT / sizeof WANT[0]; i++)
        CHECK(strstr(svg, WANT[i]), "no %s in %s", WANT[i], svg);
    CHECK(!strstr(svg, "glyph"), "letters are outlines");
    CHECK(count_of(svg, "<text ") == 5 && count_of(svg, "</text>") == 5, "texts: %s", svg);
    rela_mem_free(svg);
}

static double width_of(const char *svg)
{
    const char *width = strstr(svg, "width=\"");
    return width ? strtod(width + strlen("width=\""), NULL) : 0;
}

/* One validation is one point: it is seen, and its axes have a scale. */
static void a_single_point_has_a_marker_and_an_axis(void **state)
{
    (void)state;
    static const double AT[] = { 700 }, HIGH[] = { 24 }, ZERO[] = { 0 }, SHARE[] = { 0.3 };
    static const struct {
        const double *y;
        double y_high;
        const char *ticks[2], *none;
    } CASES[] = { { HIGH, 0, { ">600</text>", ">25</text>" }, ">699" },
                  { ZERO, 0, { ">0</text>", ">1.0</text>" }, ">-0" },
                  { SHARE, 1, { ">0.0</text>", ">1.0</text>" }, ">0.30" } };
    char path[SCRATCH_PATH];
    path_of(path, sizeof path, "h.svg");
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const rela_series series = { NULL, AT, CASES[i].y, 1 };
        const rela_plot plot = { .series = &series, .n_series = 1, .y_high = CASES[i].y_high };
        rela_error err = { RELA_OK, "" };
        CHECK_OK(rela_plot_save(&plot, NULL, path, &err), err);
        char *svg = read_svg(path);
        CHECK(strstr(svg, "C ") || strstr(svg, " c "), "case %zu: no marker: %s", i, svg);
        for (size_t k = 0; k < 2; k++)
            CHECK(strstr(svg, CASES[i].ticks[k]), "case %zu: no %s in %s", i, CASES[i].ticks[k],
                  svg);
        CHECK(!strstr(svg, CASES[i].none), "case %zu: %s", i, svg);
        rela_mem_free(svg);
    }
}

/* They would make a page so wide that nothing on it can be read. */
static void long_names_do_not_widen_a_page(void **state)
{
    (void)state;
    static const char LONG[] = "a-name-that-is-so-long-that-no-figure-of-the-usual-width-has-room-"
                               "for-it-without-more-than-this";
    static const char *const NAMES[] = { LONG }, *const SHORT[] = { "a" };
    static const double VALUE[] = { 1 };
    const rela_series series[] = { { LONG, X, Z, 4 }, { "b", X, Z, 4 } };
    const rela_plot plot = { .series = series, .n_series = 2, .width = 200 };
    const rela_bars bars[] = { { LONG, "y", SHORT, SHORT, 1, 1, VALUE, 1 },
                               { "t", "y", NAMES, SHORT, 1, 1, VALUE, 1 },
                               { "t", "y", SHORT, NAMES, 1, 1, VALUE, 1 } };
    const rela_heatmap map = { "m", SHORT, SHORT, 1, 1, VALUE, .high = 1 };
    char path[SCRATCH_PATH];
    path_of(path, sizeof path, "i.svg");
    for (size_t i = 0; i < 5; i++) {
        rela_error err = { RELA_OK, "" };
        CHECK_OK(i == 0   ? rela_plot_save(&plot, NULL, path, &err)
                 : i == 1 ? rela_heatmaps_save(&map, 1, 0, LONG, NULL, path, &err)
                          : rela_bars_save(&bars[i - 2], 0, NULL, path, &err),
                 err);
        char *svg = read_svg(path);
        CHECK(width_of(svg) <= 270, "figure %zu is %g wide", i, width_of(svg));
        CHECK(strstr(svg, ">a-name") && strstr(svg, "s</text>"), "figure %zu: %s", i, svg);
        CHECK((i == 1 || i == 3) == !strstr(svg, "\xE2\x80\xA6"), "figure %zu: %s", i, svg);
        rela_mem_free(svg);
    }
}

static void maps_and_groups_are_as_many_as_fit(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "a", "b", "c", "d", "e", "f", "g" };
    static const double VALUES[49] = { 1 };
    static const double WIDTHS[] = { 800, 520, 270, 1 };
    rela_heatmap maps[7];
    const rela_bars bars = { "t", "y", NAMES, NAMES, 7, 2, VALUES, 1 };
    char path[SCRATCH_PATH];
    path_of(path, sizeof path, "k.svg");
    for (size_t i = 0; i < 7; i++)
        maps[i] = (rela_heatmap){ "m", NAMES, NAMES, 7, 7, VALUES, .high = 1 };
    double before[2] = { 1e9, 1e9 };
    for (size_t i = 0; i < sizeof WIDTHS / sizeof WIDTHS[0]; i++)
        for (int k = 0; k < 2; k++) {
            rela_error err = { RELA_OK, "" };
            CHECK_OK(k ? rela_bars_save(&bars, WIDTHS[i], NULL, path, &err)
                       : rela_heatmaps_save(maps, 7, WIDTHS[i], NULL, NULL, path, &err),
                     err);
            char *svg = read_svg(path);
            const double wide = width_of(svg);
            CHECK(wide <= fmax(WIDTHS[i], 270) && (wide < before[k] || i == 3),
                  "%g wide; expected at most %g", wide, WIDTHS[i]);
            before[k] = wide;
            CHECK(count_of(svg, ">g</text>") == (k ? 1 : 14), "%s", svg);
            rela_mem_free(svg);
        }
}

/* A weight above zero is never white; where numbers are written, shades follow them. */
static void shades_tell_small_weights_from_zero(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "a", "b", "c" };
    static const double SMALL[] = { 1, 1e-9, 0 }, HALF[] = { 0.84, 0.86, 0.5 };
    static const char PALE[] = "rgb(88", WHITE[] = "fill:rgb(100%,100%,100%)";
    const rela_heatmap maps[] = { { "m", NAMES, NAMES, 1, 3, SMALL, .high = 0 },
                                  { "m", NAMES, NAMES, 1, 3, HALF, .high = 1, .numbers = true } };
    char path[SCRATCH_PATH];
    rela_error err = { RELA_OK, "" };
    path_of(path, sizeof path, "l.svg");
    CHECK_OK(rela_heatmaps_save(&maps[0], 1, 0, NULL, NULL, path, &err), err);
    char *svg = read_svg(path);
    CHECK(strstr(svg, PALE), "no pale cell: %s", svg);
    CHECK(strstr(svg, WHITE) || strstr(svg, "rgb(100%, 100%, 100%)"), "no white cell: %s", svg);
    rela_mem_free(svg);
    CHECK_OK(rela_heatmaps_save(&maps[1], 1, 0, NULL, NULL, path, &err), err);
    svg = read_svg(path);
    CHECK(strstr(svg, "fill=\"rgb(0,0,0)\">84</text>") &&
              strstr(svg, "fill=\"rgb(255,255,255)\">86</text>") && strstr(svg, "rgb(50%"),
          "%s", svg);
    rela_mem_free(svg);
}

/* Only the second of two curves has a dot at every point. */
static void a_style_gives_one_series_markers(void **state)
{
    (void)state;
    static const rela_style STYLES[] = { { 0, 0, false }, { 1, 1, true } };
    const rela_series series[] = { { NULL, X, Z, 4 }, { NULL, X, Z, 4 } };
    const rela_plot plot = { .series = series, .n_series = 2, .styles = STYLES };
    char path[SCRATCH_PATH];
    rela_error err = { RELA_OK, "" };
    path_of(path, sizeof path, "n.svg");
    CHECK_OK(rela_plot_save(&plot, NULL, path, &err), err);
    char *svg = read_svg(path);
    CHECK(count_of(svg, " C ") == 2 * 4, "%zu arcs: %s", count_of(svg, " C "), svg);
    rela_mem_free(svg);
}

static void a_long_caption_is_broken_into_lines(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "a" };
    static const double VALUE[] = { 1 };
    const rela_heatmap map = { "m", NAMES, NAMES, 1, 1, VALUE, .high = 1 };
    char path[SCRATCH_PATH];
    rela_error err = { RELA_OK, "" };
    path_of(path, sizeof path, "j.svg");
    CHECK_OK(rela_heatmaps_save(&map, 1, 0,
                                "a caption of more words than fit on one line above one small "
                                "map of a single cell",
                                NULL, path, &err),
             err);
    char *svg = read_svg(path);
    CHECK(strstr(svg, ">a caption of ") && strstr(svg, "single cell</text>") &&
              count_of(svg, "font-size=\"13\"") > 1 && width_of(svg) < 320,
          "%s", svg);
    rela_mem_free(svg);
}

static void bars_have_four_to_six_ticks(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "one" };
    static const double HIGH[] = { 0.0123, 0.5, 1, 1.01, 2, 2.6, 19.9, 20.1, 53.8, 100, 123456 };
    char path[SCRATCH_PATH];
    path_of(path, sizeof path, "g.svg");
    for (size_t i = 0; i < sizeof HIGH / sizeof HIGH[0]; i++) {
        const rela_bars bars = { "t", "y", NAMES, NAMES, 1, 1, &HIGH[i], 1 };
        rela_error err = { RELA_OK, "" };
        CHECK_OK(rela_bars_save(&bars, 0, NULL, path, &err), err);
        char *svg = read_svg(path);
        const size_t ticks = count_of(svg, "\"end\"");
        CHECK(ticks >= 4 && ticks <= 6, "%g: %zu ticks", HIGH[i], ticks);
        CHECK(HIGH[i] != 53.8 || strstr(svg, ">60</text>"), "%s", svg);
        rela_mem_free(svg);
    }
}

static void a_name_that_is_not_utf8_is_refused(void **state)
{
    (void)state;
    static const char *const FILES[] = { "f.svg", "f.png", "f.pdf" };
    const rela_plot plot = { .title = "\xFF" };
    for (size_t i = 0; i < 3; i++) {
        char path[SCRATCH_PATH];
        rela_error err = { RELA_OK, "" };
        path_of(path, sizeof path, FILES[i]);
        CHECK(rela_plot_save(&plot, NULL, path, &err) != RELA_OK, "accepted");
        CHECK(strstr(err.message, "UTF-8") && !rela_file_exists(path), "%s", err.message);
    }
}

static void a_failing_disk_leaves_nothing(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    path_of(path, sizeof path, "c.png");
    for (uint64_t n = 1; n < 20; n++) {
        rela_error err = { RELA_OK, "" };
        rela_fault_set(RELA_FAULT_FILE, n, true);
        const rela_status st = rela_plot_save(&PLOT, NULL, path, &err);
        rela_fault_set(RELA_FAULT_FILE, 0, false);
        if (st == RELA_OK)
            break;
        CHECK(st == RELA_IO && *err.message, "call %d: %d %s", (int)n, st, err.message);
    }
    (void)unlink(path);
    CHECK(count_files(scratch_dir, NULL) == 0, "something is left in %s", scratch_dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_recognised_by_its_name),
        cmocka_unit_test(a_file_holds_no_date),
        cmocka_unit_test(another_ending_is_refused),
        cmocka_unit_test(empty_and_flat_data_can_be_drawn),
        cmocka_unit_test(panels_bars_and_maps_of_anything_can_be_drawn),
        cmocka_unit_test(text_of_an_svg_stays_text),
        cmocka_unit_test(bars_have_four_to_six_ticks),
        cmocka_unit_test(a_single_point_has_a_marker_and_an_axis),
        cmocka_unit_test(long_names_do_not_widen_a_page),
        cmocka_unit_test(maps_and_groups_are_as_many_as_fit),
        cmocka_unit_test(shades_tell_small_weights_from_zero),
        cmocka_unit_test(a_style_gives_one_series_markers),
        cmocka_unit_test(a_long_caption_is_broken_into_lines),
        cmocka_unit_test(a_name_that_is_not_utf8_is_refused),
        cmocka_unit_test(a_failing_disk_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
