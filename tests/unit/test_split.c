/* SPDX-License-Identifier: MIT */
/* tests/unit/test_split.c - where sentences end. */
#include "base/mem.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "check.h"
#include "rela/text.h"
#include "sweep.h"
#include "text/moses_chars.h"

#include <string.h>

enum { TEXT_MAX = 512, LONG = 1 << 20 };

typedef struct example {
    const char *language, *text; /* sentences begin after a bar */
} example;

/* clang-format off */
static const example MARKS[] = {
    { "en", "" },
    { "en", "The kettle sings" },
    { "en", "The kettle sings." },
    { "en", "The kettle sings. |The cat sleeps." },
    { "en", "The kettle sings! |Does the cat sleep? |Yes." },
    { "en", "What?! |The cat ate it!!! |No..." },
    { "en", "The kettle sings.   |The cat sleeps." },
    { "en", "The kettle sings.\t|The cat sleeps." },
    { "en", "The kettle sings.\xC2\xA0|The cat sleeps." },
    { "en", "The kettle sings . |The cat sleeps ." },
    { "en", "The kettle sings… |The cat sleeps." },
    { "en", "The kettle sings… and the cat sleeps." },
    { "en", "The kettle sings... and the cat sleeps." },
    { "en", "The kettle, well ... sings. |Loudly." },
    { "en", "Tea? |Coffee? |Water?" },
    { "en", "Tea ⁉ |Coffee ‼ |Water." },
    { "en", "Sing. . . |Or do not." },
    { "en", "The kettle sings: loudly; the cat sleeps, too." },
    { "en", "A first line\xE2\x80\xA8|A second line\xE2\x80\xA9|A third one" },
    { "en", "A kettle (!) was singing (?) Loudly." },
};

static const example QUOTES[] = {
    { "en", "\"The kettle sings.\" |The cat sleeps." },
    { "en", "\"The kettle sings!\" |\"Does it?\" |\"Yes.\"" },
    { "en", "\"The kettle sings!\" said the cook." },
    { "en", "\"Does the kettle sing?\" asked the cook. |\"It does.\"" },
    { "en", "“The kettle sings.” |‘It does.’ |So what?" },
    { "en", "He said \"it sings!\". |She agreed." },
    { "en", "It sings (and loudly). |The cat sleeps." },
    { "en", "It sings. |(The cat does not.) |It sleeps." },
    { "en", "It sings. (but not loudly)" },
    { "en", "It sings [see below]. |[It stopped.] |Tea is ready." },
    { "en", "It sings.[12] |The cat sleeps.[3][4] |Nobody cares." },
    { "en", "It sings.² |The cat sleeps." },
    { "en", "It sings.) |The cat sleeps.]" },
    { "en", "**It sings.** |_The cat sleeps._ |Fine." },
    { "en", "It sings. |– The cat sleeps." },
    { "en", "Kitchen. - The kettle sings." },
    { "en", "It sings. |• The cat sleeps. |• Tea is ready." },
    { "de", "„Der Kessel singt.“ |„Und die Katze?“ |Sie schläft." },
    { "de", "»Der Kessel singt.« |»Und die Katze?« |Sie schläft." },
    { "de", "„Singt er?“, fragte die Köchin. |Er sang." },
    { "de", "„Singt er?“ fragte die Köchin. |Er sang." },
    { "fr", "« La bouilloire chante. » |Le chat dort." },
    { "fr", "«\xC2\xA0""Chante-t-elle\xC2\xA0?\xC2\xA0» |«\xC2\xA0Oui\xC2\xA0!\xC2\xA0» |Le chat dort." },
    { "fr", "« Chante-t-elle ? » demanda le cuisinier. |Oui." },
    { "cs", "„Konvice zpívá.“ |Kočka spí." },
    { "es", "¿Canta la tetera? |¡Sí! |¿Y el gato? |Duerme." },
};

static const example ENGLISH[] = {
    { "en", "Dr. Brown met Mrs. Green. |They talked." },
    { "en", "I asked Prof. White, Sgt. Black and Lt. Grey. |Nobody knew." },
    { "en", "The Rev. Brown climbed Mt. Tall and saw St. Anywhere. |It rained." },
    { "en", "Bring fruit, e.g. Apples. |Or pears, i.e. Sweet ones." },
    { "en", "See cf. Brown, vs. Green, approx. Ten." },
    { "en", "J. R. Brown and A. Green wrote it. |John Q. White read it." },
    { "en", "She met J. R. |The end." },
    { "en", "It was seen in the U.S. |The reason is unknown." },
    { "en", "The U.S. Senate met. |It voted." },
    { "en", "He holds a Ph.D. |She does not." },
    { "en", "Apples, pears, etc. |They were sweet." },
    { "en", "Apples, pears, etc. are sweet." },
    { "en", "We meet at 5 p.m. |Bring tea." },
    { "en", "We meet at 5 p.m. on Sunday." },
    { "en", "We left at 7 a.m. |Nobody was there." },
    { "en", "Kettle Inc. Chief Brown resigned. |He was tired." },
    { "en", "He works for Kettle Inc. |She works for Pot Ltd. |They met." },
    { "en", "Fred Brown Jr. |He is the son." },
    { "en", "See No. 5 and no. 6. |Then rest." },
    { "en", "Is it true? |No. |It is not." },
    { "en", "Did he say no. |He did." },
    { "en", "Look at p. 5, pp. 6 and vol. 7. |Then at fig. 8." },
    { "en", "We read vol. II and chap. X. |It was long." },
    { "en", "I like art. |It is fun." },
    { "en", "It was on Jan. 5. |We froze." },
    { "en", "It was cold in Jan. |The pipes froze." },
    { "en", "It costs 3.50 or 1,200.75. |Pay now." },
    { "en", "There were 12. |Nobody came." },
    { "en", "It opened in 1998. |Nobody came." },
    { "en", "He is 20. |30 people came." },
    { "en", "1. Boil the water. |2. Add the tea. |3. Wait." },
    { "en", "(1) Boil the water. |(2) Add the tea." },
    { "en", "a. Boil the water. |b. Add the tea." },
    { "en", "1.2. The water. |It boils." },
    { "en", "You are as tall as I. |Who knew?" },
    { "en", "Take vitamin C. |It helps." },
    { "en", "Write to me@example.org. |See www.example.org/a.html?b=c. |Thanks." },
    { "en", "Open kettle.txt or kettle.tar.gz now. |Then close it." },
    { "en", "Version 2.0.1 is out. |Get it." },
    { "en", "It's Tom's. |Take it." },
    { "en", "He knew it, but she didn't. |Why?" },
    { "en", "In the 1960's. |Hats were large." },
    { "en", "the kettle sings. |the cat sleeps. |who cares? |nobody does." },
    { "en", "The kettle sings. the cat sleeps." },
    { "en", "Great! 😀 |Thanks. 👍🏽" },
    { "en", "It sings. |#kettle is trending. |@cook agrees." },
    { "en", "It rose 5 %. |$5 is enough." },
    { "en", "WE BOIL WATER. |WE DRINK TEA." },
    { "en", "Mr. & Mrs. Brown came. |They sat." },
    { "en", "Brown et al. |This is new." },
    { "en", "It is 5 ft. tall. |Is it?" },
    { "en", "He said (cf. Brown) no. |She left." },
    { "en", "Brown v. Green was decided. |Green won." },
    { "en", "iPods sold. |Nobody knew why." },
    { "EN-gb", "Dr. Brown left. |Good." },
};

static const example GERMAN[] = {
    { "de", "Der Kessel singt. |Die Katze schläft." },
    { "de", "Wir treffen uns am 3. Mai. |Es regnet." },
    { "de", "Am 3. Mai 2020 regnete es. |Dann nicht mehr." },
    { "de", "Am 3. 5. 2020 regnete es. |Dann nicht mehr." },
    { "de", "Das war im 19. Jahrhundert. |Lange her." },
    { "de", "Der 2. Kessel singt. |Der 3. auch." },
    { "de", "Ludwig XIV. Kessel war groß. |Er sang." },
    { "de", "Das war Ludwig XIV. |Er sang." },
    { "de", "Montag, 3. Juli. |Sonne." },
    { "de", "Ich bin 20. |Du bist 30. |Wir sind alt." },
    { "de", "Wir wohnen in Nummer 12. |Kommt vorbei!" },
    { "de", "Das war 1998. |Niemand kam." },
    { "de", "Auf dem 3. Platz: die Katze. |Gut." },
    { "de", "Er nimmt z. B. Tee. |Oder z.B. Kaffee." },
    { "de", "Das heißt, d. h. Tee, u. a. Kaffee, i. d. R. Wasser. |Gut." },
    { "de", "Tee, Kaffee usw. |Der Kessel singt." },
    { "de", "Tee, Kaffee usw. Wasser gibt es nicht." },
    { "de", "Tee, Kaffee u. a. |Das war gut." },
    { "de", "Es gibt Tee bzw. Kaffee, ca. Drei Liter, ggf. Wasser. |Gut." },
    { "de", "Frau Dr. Braun, Hr. Grün und Prof. Weiß. |Alle da." },
    { "de", "Siehe Nr. 5, Abs. 2, Art. 3 und S. 7. |Danke." },
    { "de", "Das ist keine Art. |Schluss damit." },
    { "de", "Es kostet 5 Mio. Euro. |Zu viel." },
    { "de", "Es kostet 5 Mio. |Das ist zu viel." },
    { "de", "Im Jahr 50 v. Chr. |Da war was." },
    { "de", "Im Jahr 50 v. Chr. Geburt." },
    { "de", "Er wohnt in der Kesselstr. 5. |Dort singt er." },
    { "de", "Er isst ... Brot. |Viel Brot." },
    { "de", "Er wartet ... |Dann geht er." },
    { "de", "Er wartet... |Brot kommt." },
    { "de", "K. Braun und J.-P. Grün. |Beide." },
    { "de", "Lies vgl. Braun, sog. Kessel, inkl. Deckel. |Ende." },
    { "de", "Es kostet 3,50 Euro. |Oder 1.200,75." },
    { "de", "Bist du’s? |Ich bin’s. |Komm." },
    { "de", "Das ist eine CD. |Keine DVD. |Gut." },
    { "de", "1. Wasser kochen. |2. Tee nehmen." },
    { "de-AT", "Am 1. Jänner. |Gut." },
};

static const example FRENCH[] = {
    { "fr", "La bouilloire chante. |Le chat dort." },
    { "fr", "M. Brun a vu Mme. Vert et MM. Blanc. |Ils parlent." },
    { "fr", "M. Le Brun est là. |Il parle." },
    { "fr", "Mlle. Vert, Me Brun et le Dr. Blanc. |Tous là." },
    { "fr", "Du thé, du café, etc. |Le chat dort." },
    { "fr", "Du thé, du café, etc. sont là." },
    { "fr", "Du thé, p. ex. Noir. |Ou vert, c.-à-d. Frais." },
    { "fr", "Voir n. 5, p. 6, chap. 7 et art. 8. |Merci." },
    { "fr", "Le vol. |C'est mal." },
    { "fr", "En 50 av. J.-C. |Il pleuvait." },
    { "fr", "Chante-t-elle ? |Oui ! |Bien." },
    { "fr", "Quoi ? ! |Rien." },
    { "fr", "L'eau bout. |C'est prêt. |À table !" },
    { "fr", "Il y en a d'env. Dix. |C'est peu." },
    { "fr", "C'était en 1998. |Personne n'est venu." },
    { "fr", "J. Brun et A. Vert. |Les deux." },
    { "fr", "Il vit aux É.-U. |L'hiver y est froid." },
    { "fr", "Ste. Anne et St. Brun. |Voilà." },
    { "fr", "Louis XIV. |Il régnait." },
};

static const example CZECH[] = {
    { "cs", "Konvice zpívá. |Kočka spí." },
    { "cs", "Sejdeme se 3. května. |Prší." },
    { "cs", "Dne 3. 5. 2020 pršelo. |Pak ne." },
    { "cs", "Bylo to v 19. století. |Dávno." },
    { "cs", "Přišel p. Hnědý, Ing. Zelený a prof. Bílý. |Sedli si." },
    { "cs", "Čaj, káva atd. |Kočka spí." },
    { "cs", "Čaj, káva atd. |To je vše." },
    { "cs", "Např. Karel, tj. Syn, tzv. Král. |Konec." },
    { "cs", "Viz č. 5, str. 6 a kap. 7. |Díky." },
    { "cs", "Karel IV. Lucemburský panoval. |Pak zemřel." },
    { "cs", "To byl Karel IV. |On panoval." },
    { "cs", "Firma s. r. o. |To je ona." },
    { "cs", "Stojí 5 mil. Kč. |To je moc." },
    { "cs", "Bylo to v roce 1998. |Nikdo nepřišel." },
    { "cs", "Je jich 12. |Nikdo nepřišel." },
    { "cs", "Mgr. Novotný, MUDr. Malý a sv. Anna. |Všichni." },
};

static const example OTHERS[] = {
    { "es", "El Sr. Moreno y la Dra. Verde. |Hablan." },
    { "es", "Té, café, etc. |El gato duerme." },
    { "es", "Véase pág. 5 y núm. 6. |Gracias." },
    { "it", "Il Sig. Bruno e la Dott.ssa Verdi. |Parlano." },
    { "it", "Tè, caffè, ecc. |L'acqua bolle." },
    { "pt", "O Sr. Castanho e a Dra. Verde. |Falam." },
    { "nl", "Dhr. Bruin en mevr. Groen, d.w.z. Allebei. |Ze praten." },
    { "nl", "Thee, koffie enz. |De kat slaapt." },
    { "pl", "P. Brązowy i dr. Zielony. |Rozmawiają." },
    { "pl", "Herbata, kawa itd. |To wszystko." },
    { "ru", "Чайник поёт. |Кот спит." },
    { "ru", "Чай и т. д. |Он пьёт." },
    { "ru", "А. С. Бурый пьёт. |Да." },
    { "sv", "Te, kaffe osv. |Katten sover." },
    { "sv", "Te, kaffe osv. |Det är allt." },
    { "fi", "Kattila laulaa. |Kissa nukkuu." },
    { "fi", "Tapaamme 3. toukokuuta. |Sataa." },
    { "fi", "Dr. Ruskea ja Mr. Vihreä. |He puhuvat." },
    { "zh", "水开了。|猫睡了。" },
    { "zh", "水开了？|开了！|猫睡了" },
    { "zh", "“水开了。”|猫睡了。" },
    { "zh", "水开了。 |猫睡了。" },
    { "ja", "「はい。」と言った。|猫。" },
    { "ja", "「はい。」|猫が眠る。" },
    { "zh", "水开了?|开了!|猫睡了." },
    { "zh", "水开了.|猫睡了." },
    { "zh", "（水开了。）|猫睡了，真的。" },
    { "zh", "１．５升水。|３只猫。" },
    { "ko", "물이 끓는다. |고양이가 잔다." },
    { "hi", "पानी। |बिल्ली।" },
    { "ar", "هل نام؟ |نعم." },
    { "ur", "یہ چائے ہے۔ |ہاں۔" },
    { "el", "Ναι; |Όχι." },
    { "ka", "კი. |არა." },
};
/* clang-format on */

static rela_error err;

static rela_splitter *splitter(const char *language)
{
    const rela_splitter_options o = { .struct_size = sizeof o, .language = language };
    rela_splitter *s = NULL;
    CHECK(rela_splitter_create(&s, &o, &err) == RELA_OK, "%s: %s", language, err.message);
    return s;
}

/* The text with a bar before every sentence but the first, as in the tables. */
static void mark(char *out, size_t size, const rela_splitter *s, const char *text, size_t len)
{
    size_t n = 0, last = 0;
    rela_sentence x;
    for (size_t at = 0; rela_split_next(&x, &at, s, text, len);) {
        assert_true(x.begin < x.end && x.end <= at && at <= len && n + len < size);
        memcpy(out + n, text + last, x.begin - last);
        n += x.begin - last;
        if (last)
            out[n++] = '|';
        memcpy(out + n, text + x.begin, x.end - x.begin);
        n += x.end - x.begin;
        last = x.end;
    }
    memcpy(out + n, text + last, len - last);
    out[n + len - last] = '\0';
}

static void check_example(const example *e)
{
    char text[TEXT_MAX], got[TEXT_MAX];
    size_t len = 0;
    for (const char *c = e->text; *c; c++)
        if (*c != '|')
            text[len++] = *c;
    rela_splitter *s = splitter(e->language);
    mark(got, sizeof got, s, text, len);
    CHECK(strcmp(got, e->text) == 0, "%s: '%s'; expected '%s'", e->language, got, e->text);
    rela_splitter_destroy(s);
}

#define EXAMPLES(name, table)                                                                      \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        for (size_t i = 0; i < sizeof(table) / sizeof *(table); i++)                               \
            check_example(&(table)[i]);                                                            \
    }
EXAMPLES(marks_end_sentences, MARKS)
EXAMPLES(quotes_and_brackets_close_with_them, QUOTES)
EXAMPLES(english, ENGLISH)
EXAMPLES(german, GERMAN)
EXAMPLES(french, FRENCH)
EXAMPLES(czech, CZECH)
EXAMPLES(other_languages, OTHERS)

static bool only_blanks(const char *text, size_t len)
{
    return rela_text_trim((rela_span){ text, len }).len == 0;
}

/* Every byte is in a sentence, or a blank between two; characters stay whole. */
static void check_cover(const rela_splitter *s, const char *text, size_t len)
{
    rela_sentence x = { 0, 0 };
    size_t at = 0, last = 0;
    const bool valid = rela_utf8_valid(text, len) == len;
    while (rela_split_next(&x, &at, s, text, len)) {
        CHECK(x.begin >= last && x.begin < x.end && x.end <= at && at <= len, "%zu %zu of %zu: %zu",
              x.begin, x.end, len, at);
        CHECK(only_blanks(text + last, x.begin - last), "lost before %zu: '%s'", x.begin, text);
        CHECK(!valid || rela_utf8_valid(text + x.begin, x.end - x.begin) == x.end - x.begin,
              "a character was cut: '%s'", text);
        last = x.end;
    }
    CHECK(at == len && only_blanks(text + last, len - last), "lost after %zu: '%s'", last, text);
}

static void nothing_is_lost(void **state)
{
    (void)state;
    static const char *const PARTS[] = {
        ".",        "!",    "?",    "...",  "…",        "。", "\"", "'",  "”",
        "„",        "»",    "(",    ")",    "[1]",      " ",  "  ", "\t", "-",
        "–",        "•",    "A",    "b",    "Dr",       "z",  "B",  "No", "5",
        "19",       "XIV",  "Der",  "The",  "é",        "水", "と", "😀",  "\xE2\x80\xA8",
        "\xC2\xA0", "\xFF", "\xC3", "\x80", "\xE2\x80", ",",  ";",  "|",
    };
    static const char *const LANGUAGES[] = { "en", "de", "fr", "cs", "ja" };
    for (size_t i = 0; i < sizeof LANGUAGES / sizeof *LANGUAGES; i++) {
        rela_splitter *s = splitter(LANGUAGES[i]);
        rela_rng r = rela_rng_start(7, i);
        for (int k = 0; k < 20000; k++) {
            char text[TEXT_MAX] = "";
            for (uint64_t n = rela_rng_below(&r, 24); n > 0; n--)
                strcat(text, PARTS[rela_rng_below(&r, sizeof PARTS / sizeof *PARTS)]);
            check_cover(s, text, strlen(text));
        }
        rela_splitter_destroy(s);
    }
}

static void nul_is_a_character(void **state)
{
    (void)state;
    rela_splitter *s = splitter("en");
    rela_sentence x;
    size_t at = 0;
    assert_true(rela_split_next(&x, &at, s, "A\0b. C.", 7) && x.begin == 0 && x.end == 4);
    assert_true(rela_split_next(&x, &at, s, "A\0b. C.", 7) && x.begin == 5 && x.end == 7);
    assert_false(rela_split_next(&x, &at, s, "A\0b. C.", 7));
    rela_splitter_destroy(s);
}

/* Rows of one thing take linear time: quadratic time would not end. */
static void long_lines_take_no_longer(void **state)
{
    (void)state;
    static const char *const ROWS[] = { ".",   ". ",   ". a",  ". (", ".\" ", "[1", ".[1", " ",
                                        ". A", ". 1.", "z. B", "\"",  "word", "。", "😀 ",  ". -" };
    rela_splitter *s = splitter("de");
    char *text = rela_mem_alloc(LONG);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const size_t n = strlen(ROWS[i]);
        for (size_t k = 0; k < LONG; k++)
            text[k] = ROWS[i][k % n];
        check_cover(s, text, LONG / n * n);
    }
    rela_mem_free(text);
    rela_splitter_destroy(s);
}

static void other_codes_are_refused(void **state)
{
    (void)state;
    static const char *const BAD[] = { "", "e", "engl", "de-", "de.AT" };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        rela_splitter *s = NULL;
        const rela_splitter_options o = { .struct_size = sizeof o, .language = BAD[i] };
        CHECK(rela_splitter_create(&s, &o, &err) == RELA_ARG && !s, "'%s' was accepted", BAD[i]);
        CHECK(strstr(err.message, "is not known"), "%s", err.message);
    }
    rela_splitter *s = NULL;
    CHECK_OK(rela_splitter_create(&s, NULL, &err), err);
    rela_splitter_destroy(s);
    rela_splitter_destroy(NULL);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const rela_splitter_options o = { .struct_size = sizeof o, .language = "de" };
    for (sweep s = SWEEP_START; sweep_next(&s);) {
        rela_splitter *made = NULL;
        sweep_arm(&s);
        const rela_status st = rela_splitter_create(&made, &o, &err);
        sweep_disarm(&s);
        CHECK((st == RELA_OK) == (made != NULL), "status %d", st);
        rela_splitter_destroy(made);
        sweep_status(&s, st, &err);
        sweep_check(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_end_sentences),
        cmocka_unit_test(quotes_and_brackets_close_with_them),
        cmocka_unit_test(english),
        cmocka_unit_test(german),
        cmocka_unit_test(french),
        cmocka_unit_test(czech),
        cmocka_unit_test(other_languages),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(nul_is_a_character),
        cmocka_unit_test(long_lines_take_no_longer),
        cmocka_unit_test(other_codes_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
