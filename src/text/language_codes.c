/* SPDX-License-Identifier: MIT */
/* src/text/language_codes.c - the codes of languages, as people write them and as we do.
 *
 * A language has the code of two letters of ISO 639-1, or where it has none that of ISO 639-2 (and
 * a few of ISO 639-3 that corpora use). */
#include "base/nearest.h"
#include "base/str.h"
#include "rela/text.h"
#include "text/language.h"

#include <string.h>

enum { SHORT_CODE = 2, LONG_CODE = 3, LANGUAGE_BYTES = 32 };

typedef struct code_row {
    const char *code;
    const char *others; /* codes of three letters and names, in lower case */
} code_row;

/* clang-format off */
static const code_row CODES[] = {
    { "aa", "aar afar" }, { "ab", "abk abkhazian" }, { "ae", "ave avestan" },
    { "af", "afr afrikaans" }, { "ak", "aka akan" }, { "am", "amh amharic" },
    { "an", "arg aragonese" }, { "ar", "ara arabic arb" }, { "as", "asm assamese" },
    { "av", "ava avaric" }, { "ay", "aym aymara ayr" }, { "az", "aze azerbaijani azj" },
    { "ba", "bak bashkir" }, { "be", "bel belarusian" }, { "bg", "bul bulgarian" }, { "bh", "bih" },
    { "bi", "bis bislama" }, { "bm", "bam bambara" }, { "bn", "ben bengali bangla" },
    { "bo", "bod tib tibetan" }, { "br", "bre breton" }, { "bs", "bos bosnian" },
    { "ca", "cat catalan valencian" }, { "ce", "che chechen" }, { "ch", "cha chamorro" },
    { "co", "cos corsican" }, { "cr", "cre cree" }, { "cs", "ces cze czech cestina" },
    { "cu", "chu" }, { "cv", "chv chuvash" }, { "cy", "cym wel welsh" }, { "da", "dan danish" },
    { "de", "deu ger german deutsch" }, { "dv", "div divehi dhivehi maldivian" },
    { "dz", "dzo dzongkha" }, { "ee", "ewe" }, { "el", "ell gre greek" },
    { "en", "eng english" }, { "eo", "epo esperanto" }, { "es", "spa spanish castilian espanol" },
    { "et", "est estonian ekk" }, { "eu", "eus baq basque" }, { "fa", "fas per persian pes farsi" },
    { "ff", "ful fulah fuv" }, { "fi", "fin finnish" }, { "fj", "fij fijian" },
    { "fo", "fao faroese" }, { "fr", "fra fre french francais" }, { "fy", "fry" },
    { "ga", "gle irish" }, { "gd", "gla gaelic" }, { "gl", "glg galician" },
    { "gn", "grn guarani gug" }, { "gu", "guj gujarati" }, { "gv", "glv manx" },
    { "ha", "hau hausa" }, { "he", "heb hebrew" }, { "hi", "hin hindi" }, { "ho", "hmo" },
    { "hr", "hrv croatian" }, { "ht", "hat haitian" }, { "hu", "hun hungarian" },
    { "hy", "hye arm armenian" }, { "hz", "her herero" }, { "ia", "ina interlingua" },
    { "id", "ind indonesian" }, { "ie", "ile interlingue occidental" }, { "ig", "ibo igbo" },
    { "ii", "iii nuosu" }, { "ik", "ipk inupiaq" }, { "io", "ido" },
    { "is", "isl ice icelandic" }, { "it", "ita italian italiano" }, { "iu", "iku inuktitut" },
    { "ja", "jpn japanese" }, { "jv", "jav javanese" }, { "ka", "kat geo georgian" },
    { "kg", "kon kongo" }, { "ki", "kik kikuyu gikuyu" }, { "kj", "kua kuanyama kwanyama" },
    { "kk", "kaz kazakh" }, { "kl", "kal kalaallisut greenlandic" }, { "km", "khm khmer" },
    { "kn", "kan kannada" }, { "ko", "kor korean" }, { "kr", "kau kanuri knc" },
    { "ks", "kas kashmiri" }, { "ku", "kur kurdish kmr" }, { "kv", "kom komi" },
    { "kw", "cor cornish" }, { "ky", "kir kirghiz kyrgyz" }, { "la", "lat latin" },
    { "lb", "ltz luxembourgish letzeburgesch" }, { "lg", "lug ganda" },
    { "li", "lim limburgan limburger limburgish" }, { "ln", "lin lingala" }, { "lo", "lao" },
    { "lt", "lit lithuanian" }, { "lu", "lub" }, { "lv", "lav latvian lvs" },
    { "mg", "mlg malagasy plt" }, { "mh", "mah marshallese" }, { "mi", "mri mao maori" },
    { "mk", "mkd mac macedonian" }, { "ml", "mal malayalam" }, { "mn", "mon mongolian khk" },
    { "mr", "mar marathi" }, { "ms", "msa may malay zsm" }, { "mt", "mlt maltese" },
    { "my", "mya bur burmese" }, { "na", "nau nauru" }, { "nb", "nob bokmal" },
    { "nd", "nde" }, { "ne", "nep nepali npi" }, { "ng", "ndo ndonga" },
    { "nl", "nld dut dutch flemish nederlands" }, { "nn", "nno nynorsk" },
    { "no", "nor norwegian" }, { "nr", "nbl" }, { "nv", "nav navajo navaho" },
    { "ny", "nya chichewa chewa nyanja" }, { "oc", "oci occitan provencal" },
    { "oj", "oji ojibwa" }, { "om", "orm oromo gaz" }, { "or", "ori oriya ory odia" },
    { "os", "oss ossetian ossetic" }, { "pa", "pan panjabi punjabi" }, { "pi", "pli pali" },
    { "pl", "pol polish polski" }, { "ps", "pus pushto pashto pbt" },
    { "pt", "por portuguese portugues" }, { "qu", "que quechua quy" }, { "rm", "roh romansh" },
    { "rn", "run rundi" }, { "ro", "ron rum romanian moldavian moldovan" }, { "ru", "rus russian" },
    { "rw", "kin kinyarwanda" }, { "sa", "san sanskrit" }, { "sc", "srd sardinian" },
    { "sd", "snd sindhi" }, { "se", "sme" }, { "sg", "sag sango" },
    { "si", "sin sinhala sinhalese" }, { "sk", "slk slo slovak" }, { "sl", "slv slovenian" },
    { "sm", "smo samoan" }, { "sn", "sna shona" }, { "so", "som somali" },
    { "sq", "sqi alb albanian als" }, { "sr", "srp serbian" }, { "ss", "ssw swati" },
    { "st", "sot sotho" }, { "su", "sun sundanese" }, { "sv", "swe swedish" },
    { "sw", "swa swahili swh" }, { "ta", "tam tamil" }, { "te", "tel telugu" },
    { "tg", "tgk tajik" }, { "th", "tha thai" }, { "ti", "tir tigrinya" }, { "tk", "tuk turkmen" },
    { "tl", "tgl tagalog" }, { "tn", "tsn tswana" }, { "to", "ton tonga" }, { "tr", "tur turkish" },
    { "ts", "tso tsonga" }, { "tt", "tat tatar" }, { "tw", "twi" }, { "ty", "tah tahitian" },
    { "ug", "uig uighur uyghur" }, { "uk", "ukr ukrainian" }, { "ur", "urd urdu" },
    { "uz", "uzb uzbek uzn" }, { "ve", "ven venda" }, { "vi", "vie vietnamese" },
    { "vo", "vol volapuk" }, { "wa", "wln walloon" }, { "wo", "wol wolof" }, { "xh", "xho xhosa" },
    { "yi", "yid yiddish ydd" }, { "yo", "yor yoruba" }, { "za", "zha zhuang chuang" },
    { "zh", "zho chi chinese cmn mandarin" }, { "zu", "zul zulu" },
};

/* Languages without a code of two letters; "und" is any, "mul" several, "cjk" East Asian text. */
static const char LONG_CODES[][LONG_CODE + 1] = {
    "und", "mul", "cjk",
    "ace", "ach", "acm", "acq", "ada", "ady", "aeb", "afa", "afh", "ain", "ajp", "akk", "ale",
    "alg", "alt", "ang", "anp", "apa", "apc", "arc", "arn", "arp", "ars", "art", "arw", "ary",
    "arz", "ast", "ath", "aus", "awa", "azb", "bad", "bai", "bal", "ban", "bas", "bat", "bej",
    "bem", "ber", "bho", "bik", "bin", "bjn", "bla", "bnt", "bra", "btk", "bua", "bug", "byn",
    "cad", "cai", "car", "cau", "ceb", "cel", "chb", "chg", "chk", "chm", "chn", "cho", "chp",
    "chr", "chy", "ckb", "cmc", "cnr", "cop", "cpe", "cpf", "cpp", "crh", "crp", "csb", "cus",
    "dak", "dar", "day", "del", "den", "dgr", "dik", "din", "doi", "dra", "dsb", "dua", "dum",
    "dyu", "efi", "egy", "eka", "elx", "enm", "ewo", "fan", "fat", "fil", "fiu", "fon", "frm",
    "fro", "frr", "frs", "fur", "gaa", "gay", "gba", "gem", "gez", "gil", "gmh", "goh", "gon",
    "gor", "got", "grb", "grc", "gsw", "gwi", "hai", "haw", "hil", "him", "hit", "hmn", "hne",
    "hsb", "hup", "iba", "ijo", "ilo", "inc", "ine", "inh", "ira", "iro", "jbo", "jpr", "jrb",
    "kaa", "kab", "kac", "kam", "kar", "kaw", "kbd", "kbp", "kea", "kha", "khi", "kho", "kmb",
    "kok", "kos", "kpe", "krc", "krl", "kro", "kru", "kum", "kut", "lad", "lah", "lam", "lez",
    "lij", "lmo", "lol", "loz", "ltg", "lua", "lui", "lun", "luo", "lus", "mad", "mag", "mai",
    "mak", "man", "map", "mas", "mdf", "mdr", "men", "mga", "mic", "min", "mkh", "mnc", "mni",
    "mno", "moh", "mos", "mun", "mus", "mwl", "mwr", "myn", "myv", "nah", "nai", "nap", "nds",
    "new", "nia", "nic", "niu", "nog", "non", "nqo", "nso", "nub", "nus", "nwc", "nym", "nyn",
    "nyo", "nzi", "osa", "ota", "oto", "paa", "pag", "pal", "pam", "pap", "pau", "peo", "phi",
    "phn", "pon", "pra", "pro", "prs", "raj", "rap", "rar", "roa", "rom", "rup", "sad", "sah",
    "sai", "sal", "sam", "sas", "sat", "scn", "sco", "sel", "sem", "sga", "sgn", "shn", "sid",
    "sio", "sit", "sla", "sma", "smi", "smj", "smn", "sms", "snk", "sog", "son", "srn", "srr",
    "ssa", "suk", "sus", "sux", "syc", "syr", "szl", "tai", "taq", "tem", "ter", "tet", "tig",
    "tiv", "tkl", "tlh", "tli", "tmh", "tog", "tpi", "tsi", "tum", "tup", "tut", "tvl", "tyv",
    "tzm", "udm", "uga", "umb", "vai", "vec", "vot", "wak", "wal", "war", "was", "wen", "xal",
    "yao", "yap", "ypk", "yue", "zap", "zbl", "zen", "zgh", "znd", "zun", "zza",
};

/* The first to be suggested. */
static const char COMMON[][SHORT_CODE + 1] = {
    "en", "de", "fr", "es", "it", "pt", "nl", "cs", "pl", "ru", "zh", "ja", "ko", "ar", "tr", "sv",
};

/* Codes of countries that are taken for those of languages. */
static const char *const COUNTRIES[][2] = {
    { "at", "de" }, { "cn", "zh" }, { "cz", "cs" }, { "dk", "da" }, { "gb", "en" }, { "gr", "el" },
    { "in", "hi" }, { "iw", "he" }, { "ji", "yi" }, { "jp", "ja" }, { "mx", "es" }, { "ua", "uk" },
    { "us", "en" },
};

enum { N_CODES = sizeof CODES / sizeof CODES[0] };

/* What may stand after the language in the name of a file. */
static const char ENDINGS[] = "gz zst bz2 xz txt text raw tok bpe norm true lc clean";
/* clang-format on */

static bool has_word(const char *words, const char *word, size_t len);
static const char *find(const char *name, size_t len);
static rela_status fail_unknown(const char *name, rela_error *err);

rela_status rela_language_code(const char **code, const char *name, rela_error *err)
{
    char lower[LANGUAGE_BYTES];
    *code = NULL;
    const size_t len = strlen(name), first = rela_language_length(name);
    const size_t n = first ? first : len;
    if (n == 0 || n >= sizeof lower)
        return fail_unknown(name, err);
    for (size_t i = 0; i < n; i++)
        lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] | 0x20) : name[i];
    const char *known = find(lower, n);
    if (!known)
        return fail_unknown(name, err);
    const bool same = strncmp(name, known, n) == 0 && known[n] == '\0';
    *code = same && first && n < len && len < RELA_LANGUAGE_SIZE
                ? name
                : known; /* with its region, as in pt-BR */
    return RELA_OK;
}

const char *rela_language_of_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t end = strlen(name); end > 0;) {
        size_t dot = end;
        while (dot > 0 && name[dot - 1] != '.')
            dot--;
        const char *part = name + dot;
        const size_t len = end - dot;
        if (dot == 0)
            return NULL; /* a name, no ending */
        if (!has_word(ENDINGS, part, len))
            return len == SHORT_CODE || len == SHORT_CODE + 1 ? find(part, len) : NULL;
        end = dot - 1;
    }
    return NULL;
}

static bool has_word(const char *words, const char *word, size_t len)
{
    rela_span s;
    const char *at = words, *end = words + strlen(words);
    while (rela_next_word(&s, &at, end))
        if (s.len == len && memcmp(s.text, word, len) == 0)
            return true;
    return false;
}

/* The code of a name in lower case, lent, or NULL. */
static const char *find(const char *name, size_t len)
{
    for (size_t i = 0; i < N_CODES; i++)
        if ((len == SHORT_CODE && memcmp(CODES[i].code, name, len) == 0) ||
            has_word(CODES[i].others, name, len))
            return CODES[i].code;
    for (size_t i = 0; len == LONG_CODE && i < sizeof LONG_CODES / sizeof LONG_CODES[0]; i++)
        if (memcmp(LONG_CODES[i], name, len) == 0)
            return LONG_CODES[i];
    return NULL;
}

/* The row with the name that is nearest, or NULL. */
static const code_row *nearest_row(const char *name)
{
    rela_nearest best = { NULL, 0 };
    const code_row *row = NULL;
    for (size_t i = 0; i < N_CODES; i++) {
        const char *before = best.name, *at = CODES[i].others, *end = at + strlen(at);
        rela_nearest_offer(&best, name, CODES[i].code, SHORT_CODE);
        for (rela_span word; rela_next_word(&word, &at, end);)
            rela_nearest_offer(&best, name, word.text, word.len);
        if (best.name != before)
            row = &CODES[i];
    }
    return row;
}

static const char *meant(const char *name)
{
    rela_nearest best = { NULL, 0 };
    for (size_t i = 0; i < sizeof COUNTRIES / sizeof COUNTRIES[0]; i++)
        if (strcmp(name, COUNTRIES[i][0]) == 0)
            return COUNTRIES[i][1];
    for (size_t i = 0; i < sizeof COMMON / sizeof COMMON[0] && strlen(name) == SHORT_CODE; i++)
        rela_nearest_offer(&best, name, COMMON[i], SHORT_CODE);
    return best.name;
}

static rela_status fail_unknown(const char *name, rela_error *err)
{
    const char *first = meant(name);
    const code_row *row = first ? NULL : nearest_row(name);
    const char *second = row ? row->code : NULL;
    if (!first && !second)
        return rela_fail(err, RELA_ARG,
                         "language '%.64s' is not known; expected a code like en, de or pt-BR, or "
                         "und for one without a code",
                         name);
    return rela_fail(err, RELA_ARG, "language '%.64s' is not known; did you mean %s?", name,
                     first ? first : second);
}
