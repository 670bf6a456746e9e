/* SPDX-License-Identifier: MIT */
/* src/text/language.c - see language.h.
 *
 * The abbreviations are those the Moses tokeniser knows, without the ones its other rules make
 * superfluous: a word with an inner stop ("z.B") keeps its last stop anyway, and nothing with a
 * blank or a slash is ever one token. */
#include "text/language.h"

#include "base/str.h"
#include "rela/text.h"
#include "text/moses_chars.h"

#include <string.h>

enum { CODE_MAX = 3 };

static const char CAPITALS[] = "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z";
static const char SMALL[] = "b c d e f g h i j k l m n o p q r s t u v w x y z";

static const char TITLES[] =
    "Adj Adm Adv Asst Bart Bldg Brig Bros Capt Cmdr Col Comdr Con Corp Cpl DR Dr Ens Gen Gov Hon "
    "Hosp Insp Lt MM MR MRS MS Maj Messrs Mlle Mme Mr Mrs Ms Msgr Op Ord Pfc Ph Prof Pvt Rep Reps "
    "Res Rev Rt Sen Sens Sfc Sgt Sr St Supt Surg";

static const char ENGLISH[] =
    "Apr Aug Dec Drs Feb Hr Jan Jul Jun Mar Nos Nov Nr Oct Rs Sep rev v vs";

static const char GERMAN[] =
    "a Art BSE Buchst Ca Chr Co Dkr Ltd Mio Mrd MwSt No Nos Nr SA Std Zt bzgl bzw ca dergl dgl etc "
    "evtl ff ggf jun pp sen sog sogen spp usf usw vgl vs zzt "
    "II III IV IX VI VII VIII XI XII XIII XIV XIX XV XVI XVII XVIII XX "
    "ii iii iv ix vi vii viii xi xii xiii xiv xix xv xvi xvii xviii xx";

static const char FRENCH[] =
    "MM SS al ann apr art auj av boul ca cf chap contr dir env etc ex fasc fig fr fém hab ibid id "
    "inf lib masc ms pl pp sec sect sing sq sqq suiv sup suppl tél vb vol vs éd";

static const char CZECH_TITLES[] = "Bc BcA CSc DiS Dr DrSc Ing JUDr MUDr MVDr MgA Mgr PaedDr PhDr "
                                   "PhMr PharmDr RNDr RSDr ThDr ThLic doc nprap prof";

static const char CZECH[] =
    "f m n p r s č ř abl absol abt ad adj adv aj ak akt alch amer anat angl anglosas anon ap apod "
    "arab arch archit arg astr astrol atd atp att aut bás bd belg bibl biogr biol boh bot br bulh "
    "cca chcsl chem círk cit cizojaz col csl dat děj dep dět dial dl dol dop dopr dór dosl ed ekon "
    "epic etnonym eufem ev event facs fam fasc fem fil film fol form fot fr franc fut fyz gen "
    "geogr geol geom germ gram hebr herald hist hl hod hor horn hovor hrsg hud hut ibid ie il imp "
    "impf ind indoevr inf instr interj ión iron it jap jhdt jv kanad katalán kl klas kniž koed kol "
    "komp konj konkr korej kr kř krit kuch lat lék les lid lit liturg log lok maď mat meteor metr "
    "mj ml mld mod mp ms mysl náb námoř např násl neklas něm nepubl nesklon než no nom nr ob obch "
    "obr obyč odd odp ojed okr opr opt orig part pas pejor pers pf phil pl plpf pokrač pol pomn "
    "popř port pozn práv předl přel přeprac prep příl přivl pseud pt rcsl red refl reg repr resp "
    "revid rkp roč roz rozš rum rus samohl samost sect seš sest sg sign sl slang slov souhl spec "
    "sport srov srv st stfr stol střv stsl subj subst superl sv sz tab táz tech telev teol tis tj "
    "tř trans typogr tzn tzv univ uspoř var vč vedl verb voj vok vol vs vůb vulg vyd vyobr výtv "
    "vztaž zahr zájm zal zast zejm zeměd zkr zprac zř zvl čas čes čín čj čp řec šk špan švýc";

static const char ENGLISH_NUMBERED[] = "Art No pp";

/* clang-format off */
static const rela_language LANGUAGES[] = {
    { .code = "en", .apostrophe = RELA_APOSTROPHE_ENGLISH,
      .bits = RELA_LANGUAGE_CLITICS | RELA_LANGUAGE_COMMA_INSIDE,
      .abbreviations = { CAPITALS, TITLES, ENGLISH }, .before_number = ENGLISH_NUMBERED },
    { .code = "de", .bits = RELA_LANGUAGE_COMMA_OUTSIDE | RELA_LANGUAGE_DECIMAL_COMMA,
      .ordinals = 99, .abbreviations = { CAPITALS, SMALL, TITLES, GERMAN } },
    { .code = "fr", .apostrophe = RELA_APOSTROPHE_ELISION,
      .bits = RELA_LANGUAGE_ELISIONS | RELA_LANGUAGE_SPACED_MARKS | RELA_LANGUAGE_COMMA_OUTSIDE |
              RELA_LANGUAGE_DECIMAL_COMMA,
      .abbreviations = { CAPITALS, SMALL, FRENCH } },
    { .code = "cs", .bits = RELA_LANGUAGE_CZECH | RELA_LANGUAGE_DECIMAL_COMMA,
      .abbreviations = { CZECH_TITLES, CZECH } },
    { .code = "es", .bits = RELA_LANGUAGE_COMMA_OUTSIDE | RELA_LANGUAGE_DECIMAL_COMMA,
      .abbreviations = { CAPITALS, TITLES, ENGLISH }, .before_number = ENGLISH_NUMBERED },
    { .code = "it", .apostrophe = RELA_APOSTROPHE_ELISION, .bits = RELA_LANGUAGE_ELISIONS,
      .abbreviations = { CAPITALS, TITLES, ENGLISH }, .before_number = ENGLISH_NUMBERED },
    { .code = "ga", .bits = RELA_LANGUAGE_ELISIONS,
      .abbreviations = { CAPITALS, TITLES, ENGLISH }, .before_number = ENGLISH_NUMBERED },
    { .code = "zh", .scripts = RELA_SCRIPT_HAN,
      .abbreviations = { CAPITALS, TITLES, ENGLISH }, .before_number = ENGLISH_NUMBERED },
    { .code = "ja", .scripts = RELA_SCRIPT_HAN | RELA_SCRIPT_KANA,
      .abbreviations = { CAPITALS, TITLES, ENGLISH }, .before_number = ENGLISH_NUMBERED },
    { .code = "ko", .scripts = RELA_SCRIPT_HANGUL, .bits = RELA_LANGUAGE_SPACED_CJK,
      .abbreviations = { CAPITALS, TITLES, ENGLISH }, .before_number = ENGLISH_NUMBERED },
    { .code = "cjk", .scripts = RELA_SCRIPT_HAN | RELA_SCRIPT_KANA | RELA_SCRIPT_HANGUL,
      .abbreviations = { CAPITALS, TITLES, ENGLISH }, .before_number = ENGLISH_NUMBERED },
    /* Any other language. */
    { .code = NULL,
      .abbreviations = { CAPITALS, TITLES, ENGLISH }, .before_number = ENGLISH_NUMBERED },
};
/* clang-format on */

static rela_status add_ordinals(rela_map *map, int n, rela_error *err);

rela_status rela_language_find(const rela_language **out, const char *code, rela_error *err)
{
    const char *known = NULL;
    const rela_status st = rela_language_code(&known, code ? code : "en", err);
    if (st != RELA_OK)
        return st;
    const size_t len = rela_language_length(known);
    const rela_language *l = LANGUAGES;
    while (l->code && (strlen(l->code) != len || memcmp(l->code, known, len) != 0))
        l++;
    *out = l;
    return RELA_OK;
}

const char *rela_language_stored(const char *code)
{
    const char *known = NULL;
    const rela_status st = rela_language_code(&known, code, NULL);
    return st == RELA_OK && rela_language_length(known) == rela_language_length(code) ? code
                                                                                      : "und";
}

/* Two or three letters, then the end or a hyphen or underscore followed by more letters, digits,
 * hyphens. */
size_t rela_language_length(const char *code)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const size_t len = strspn(code, LETTERS);
    if (len < 2 || len > CODE_MAX)
        return 0;
    const char *rest = code + len;
    if (*rest == '\0')
        return len;
    if ((*rest != '-' && *rest != '_') || rest[1] == '\0')
        return 0;
    for (rest++; *rest; rest++)
        if (!strchr(LETTERS, *rest) && !strchr("0123456789-_", *rest))
            return 0;
    return len;
}

rela_status rela_language_abbreviations(rela_map **out, size_t *n_always, const rela_language *l,
                                        rela_error *err)
{
    *out = NULL;
    rela_map *map = rela_map_create(0);
    rela_status st = map ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for abbreviations");
    for (size_t i = 0; i < RELA_LANGUAGE_LISTS && st == RELA_OK; i++)
        st = rela_language_add(map, l->abbreviations[i], err);
    if (st == RELA_OK)
        st = add_ordinals(map, l->ordinals, err);
    if (st == RELA_OK) {
        *n_always = rela_map_size(map);
        st = rela_language_add(map, l->before_number, err);
    }
    if (st == RELA_OK) {
        *out = map;
        map = NULL;
    }
    rela_map_destroy(map);
    return st;
}

rela_status rela_language_add(rela_map *map, const char *words, rela_error *err)
{
    rela_span word;
    const char *at = words ? words : "", *end = at + strlen(at);
    while (rela_next_word(&word, &at, end))
        if (rela_map_add(map, word.text, word.len) == RELA_MAP_NONE)
            return rela_fail(err, RELA_NOMEM, "no memory for abbreviations");
    return RELA_OK;
}

static rela_status add_ordinals(rela_map *map, int n, rela_error *err)
{
    for (int i = 1; i <= n; i++) {
        char digits[12];
        size_t at = sizeof digits;
        for (int rest = i; rest > 0; rest /= 10)
            digits[--at] = (char)('0' + rest % 10);
        if (rela_map_add(map, digits + at, sizeof digits - at) == RELA_MAP_NONE)
            return rela_fail(err, RELA_NOMEM, "no memory for abbreviations");
    }
    return RELA_OK;
}
