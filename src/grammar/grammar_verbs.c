/* SPDX-License-Identifier: MIT */
/* src/grammar/grammar_verbs.c - verbs, adverbs, times and places of grammar_words.h. */
#include "grammar/grammar_words.h"

#include <string.h>

enum {
    NONE = FRAME_NONE,
    ACC = FRAME_ACC,
    DAT = FRAME_DAT,
    BOTH = FRAME_BOTH,
    PREP = FRAME_PREP,
    GO = FRAME_GO,
    PUT = FRAME_PUT,
    THAT = FRAME_THAT,
    TO = FRAME_TO,
    HUMAN = KIND_HUMAN,
    ANIMAL = KIND_ANIMAL,
    LIVING = KINDS_LIVING,
    LYING = KIND_LYING,
    STANDING = KIND_STANDING,
    THING = KINDS_CARRIED,
    CLOTHES = KIND_CLOTHES,
    TEXT = KIND_TEXT,
    FOOD = KIND_FOOD,
    DRINK = KIND_DRINK,
    VEHICLE = KIND_VEHICLE,
    MACHINE = KIND_MACHINE,
    OPENS = KIND_OPENS,
    SURFACE = KIND_SURFACE,
    HOUSE = KIND_HOUSE,
    ROOM = KIND_ROOM,
    PLACE = KIND_PLACE,
    INSIDE = KINDS_INSIDE,
    TASK = KIND_TASK,
    IDEA = KIND_IDEA,
    ANY = KINDS_LIVING | KINDS_CARRIED | KIND_VEHICLE | KIND_HOUSE,
    STATE = VERB_STATE,
    SEIN = VERB_SEIN,
    SICH = VERB_REFLEXIVE,
    BE = VERB_COPULA
};

/* clang-format off */
const rela_verb RELA_VERBS[] = {
    /* without an object */
    { "sleep slept slept", "schlaf schläfst schläft schlief geschlafen", NONE, LIVING, 0, 0, NULL },
    { "work", "arbeit", NONE, HUMAN, 0, 0, NULL },
    { "laugh", "lach", NONE, HUMAN, 0, 0, NULL },
    { "wait", "wart", NONE, LIVING, 0, 0, NULL },
    { "run ran run running", "renn - - rannte gerannt", NONE, LIVING, 0, SEIN, NULL },
    { "run ran run running", "lauf läufst läuft lief gelaufen", NONE, MACHINE, 0, SEIN, NULL },
    { "arrive", "komm - - kam gekommen +an", NONE, HUMAN | VEHICLE, 0, SEIN, NULL },
    { "leave left left", "geh - - ging gegangen +weg", NONE, HUMAN, 0, SEIN, NULL },
    { "get got got getting +up", "steh - - stand gestanden +auf", NONE, HUMAN, 0, SEIN, NULL },
    { "sing sang sung", "sing - - sang gesungen", NONE, HUMAN, 0, 0, NULL },
    { "swim swam swum swimming", "schwimm - - schwamm geschwommen", NONE, LIVING, 0, SEIN, NULL },
    { "come came come +back", "komm - - kam gekommen +zurück", NONE, LIVING, 0, SEIN, NULL },
    { "fall fell fallen +asleep", "schlaf schläfst schläft schlief geschlafen +ein",
      NONE, LIVING, 0, SEIN, NULL },
    { "dance", "tanz", NONE, HUMAN, 0, 0, NULL },
    { "hurry", "beeil - - - beeilt", NONE, HUMAN, 0, SICH, NULL },
    { "sit sat sat sitting +down", "setz", NONE, HUMAN, 0, SICH, NULL },
    { "wake woke woken +up", "wach +auf", NONE, LIVING, 0, SEIN, NULL },
    { "break broke broken +down", "geh - - ging gegangen +kaputt",
      NONE, MACHINE | VEHICLE, 0, SEIN, NULL },
    { "cry", "wein", NONE, HUMAN, 0, 0, NULL },
    { "move +out", "zieh - - zog gezogen +aus", NONE, HUMAN, 0, SEIN, NULL },
    /* with an object */
    { "see saw seen", "seh siehst sieht sah gesehen", ACC, LIVING, ANY, STATE, NULL },
    { "buy bought bought", "kauf", ACC, HUMAN, THING | FOOD | VEHICLE | HOUSE, 0, NULL },
    { "find found found", "find - - fand gefunden", ACC, LIVING, ANY | FOOD, 0, NULL },
    { "read read read", "les liest liest las gelesen", ACC, HUMAN, TEXT, 0, NULL },
    { "open", "öffn öffnest öffnet öffnete geöffnet", ACC, HUMAN, OPENS, 0, NULL },
    { "eat ate eaten", "ess isst isst aß gegessen", ACC, LIVING, FOOD, 0, NULL },
    { "look +for", "such", ACC, LIVING, ANY, 0, NULL },
    { "drink drank drunk", "trink - - trank getrunken", ACC, LIVING, DRINK, 0, NULL },
    { "write wrote written", "schreib - - schrieb geschrieben", ACC, HUMAN, TEXT, 0, NULL },
    { "call", "ruf - - rief gerufen +an", ACC, HUMAN, HUMAN, 0, NULL },
    { "know knew known", "kenn - - kannte gekannt",
      ACC, HUMAN, HUMAN | PLACE | HOUSE, STATE, NULL },
    { "love", "lieb", ACC, HUMAN, LIVING | PLACE, STATE, NULL },
    { "visit", "besuch - - - besucht", ACC, HUMAN, HUMAN | HOUSE | PLACE, 0, NULL },
    { "pick +up", "hol +ab", ACC, HUMAN, HUMAN, 0, NULL },
    { "pick +up", "heb - - hob gehoben +auf", ACC, HUMAN, LYING, 0, NULL },
    { "close", "schließ - - schloss geschlossen", ACC, HUMAN, OPENS, 0, NULL },
    { "need", "brauch", ACC, HUMAN, THING | HUMAN | VEHICLE, STATE, NULL },
    { "sell sold sold", "verkauf - - - verkauft",
      ACC, HUMAN, THING | FOOD | VEHICLE | HOUSE, 0, NULL },
    { "carry", "trag trägst trägt trug getragen", ACC, HUMAN, STANDING, 0, NULL },
    { "wear wore worn", "trag trägst trägt trug getragen", ACC, HUMAN, CLOTHES, 0, NULL },
    { "hear heard heard", "hör", ACC, LIVING, LIVING | VEHICLE, STATE, NULL },
    { "meet met met", "treff triffst trifft traf getroffen", ACC, HUMAN, HUMAN, 0, NULL },
    { "leave left left", "verlass verlässt verlässt verließ verlassen",
      ACC, HUMAN, INSIDE, 0, NULL },
    { "turn +on", "schalt +ein", ACC, HUMAN, MACHINE, 0, NULL },
    { "turn +off", "schalt +aus", ACC, HUMAN, MACHINE, 0, NULL },
    { "answer", "beantwort - - - beantwortet", ACC, HUMAN, TASK, 0, NULL },
    { "repair", "reparier - - - repariert", ACC, HUMAN, MACHINE | VEHICLE, 0, NULL },
    { "clean", "putz", ACC, HUMAN, ROOM | OPENS | STANDING, 0, NULL },
    { "forget forgot forgotten forgetting", "vergess vergisst vergisst vergaß vergessen",
      ACC, HUMAN, THING | HUMAN | TASK, 0, NULL },
    { "lose lost lost", "verlier - - verlor verloren", ACC, HUMAN, THING, 0, NULL },
    { "bring brought brought +back", "bring - - brachte gebracht +zurück",
      ACC, HUMAN, THING | VEHICLE, 0, NULL },
    { "understand understood understood", "versteh - - verstand verstanden",
      ACC, HUMAN, HUMAN | TEXT | TASK | IDEA, STATE, NULL },
    { "invite", "lad lädst lädt lud geladen +ein", ACC, HUMAN, HUMAN, 0, NULL },
    { "take took taken", "nehm nimmst nimmt nahm genommen", ACC, HUMAN, THING | VEHICLE, 0, NULL },
    { "drive drove driven", "fahr fährst fährt fuhr gefahren", ACC, HUMAN, VEHICLE, 0, NULL },
    { "throw threw thrown +away", "werf wirfst wirft warf geworfen +weg",
      ACC, HUMAN, THING | FOOD, 0, NULL },
    { "cook", "koch", ACC, HUMAN, FOOD, 0, NULL },
    { "look +at", "seh siehst sieht sah gesehen +an", ACC, LIVING, ANY, 0, NULL },
    { "wash", "wasch wäschst wäscht wusch gewaschen",
      ACC, HUMAN, CLOTHES | VEHICLE | ANIMAL, 0, NULL },
    { "try +on", "probier - - - probiert +an", ACC, HUMAN, CLOTHES, 0, NULL },
    { "take took taken +off", "zieh - - zog gezogen +aus", ACC, HUMAN, CLOTHES, 0, NULL },
    { "solve", "lös", ACC, HUMAN, TASK, 0, NULL },
    { "break broke broken", "zerbrech zerbrichst zerbricht zerbrach zerbrochen",
      ACC, LIVING, STANDING, 0, NULL },
    { "feed fed fed", "fütter", ACC, HUMAN, ANIMAL, 0, NULL },
    { "build built built", "bau", ACC, HUMAN, HOUSE | SURFACE | VEHICLE, 0, NULL },
    { "explain", "erklär - - - erklärt", ACC, HUMAN, TASK | IDEA | TEXT, 0, NULL },
    /* German: dative */
    { "help", "helf hilfst hilft half geholfen", DAT, HUMAN, LIVING, 0, NULL },
    { "thank", "dank", DAT, HUMAN, HUMAN, 0, NULL },
    { "follow", "folg", DAT, LIVING, LIVING | VEHICLE, SEIN, NULL },
    { "answer", "antwort", DAT, HUMAN, HUMAN, 0, NULL },
    { "listen +to", "hör +zu", DAT, LIVING, HUMAN, 0, NULL },
    { "belong +to", "gehör - - - gehört", DAT, THING | VEHICLE | HOUSE, HUMAN, STATE, NULL },
    { "trust", "vertrau - - - vertraut", DAT, HUMAN, HUMAN, STATE, NULL },
    { "congratulate", "gratulier - - - gratuliert", DAT, HUMAN, HUMAN, 0, NULL },
    /* two objects */
    { "give gave given", "geb gibst gibt gab gegeben", BOTH, HUMAN, THING | FOOD, 0, NULL },
    { "show showed shown", "zeig", BOTH, HUMAN, THING | VEHICLE | INSIDE, 0, NULL },
    { "send sent sent", "schick", BOTH, HUMAN, TEXT | LYING, 0, NULL },
    { "bring brought brought", "bring - - brachte gebracht",
      BOTH, HUMAN, THING | FOOD | DRINK, 0, NULL },
    { "lend lent lent", "leih - - lieh geliehen", BOTH, HUMAN, THING | VEHICLE, 0, NULL },
    { "promise", "versprech versprichst verspricht versprach versprochen",
      BOTH, HUMAN, THING, 0, NULL },
    /* with a preposition */
    { "wait", "wart", PREP, LIVING, LIVING | VEHICLE, 0, "for auf a" },
    { "talk", "sprech sprichst spricht sprach gesprochen",
      PREP, HUMAN, ANY | TASK | IDEA, 0, "about über a" },
    { "think thought thought", "denk - - dachte gedacht",
      PREP, HUMAN, LIVING | PLACE | IDEA, 0, "of an a" },
    { "play", "spiel", PREP, LIVING, LIVING | LYING, 0, "with mit d" },
    { "remember", "erinner - - - erinnert",
      PREP, HUMAN, LIVING | PLACE | TEXT | IDEA, STATE | SICH, "- an a" },
    { "happy", "freu", PREP, HUMAN, THING | TEXT | IDEA, SICH | BE, "about über a" },
    { "dream", "träum", PREP, LIVING, LIVING | PLACE | FOOD, 0, "of von d" },
    { "ask", "bitt - - bat gebeten", PREP, HUMAN, THING | FOOD | IDEA, 0, "for um a" },
    { "interested", "interessier - - - interessiert",
      PREP, HUMAN, TEXT | HOUSE | ANIMAL, SICH | BE, "in für a" },
    { "laugh", "lach", PREP, HUMAN, HUMAN | TEXT | CLOTHES, 0, "about über a" },
    { "believe", "glaub", PREP, HUMAN, HUMAN | IDEA, STATE, "in an a" },
    { "angry", "ärger", PREP, HUMAN, LIVING | TASK | MACHINE, SICH | BE, "about über a" },
    /* to a place */
    { "go went gone", "geh - - ging gegangen", GO, LIVING, INSIDE, SEIN, NULL },
    { "walk", "lauf läufst läuft lief gelaufen", GO, LIVING, INSIDE, SEIN, NULL },
    { "travel travelled travelled travelling", "reis", GO, HUMAN, PLACE, SEIN, NULL },
    { "come came come", "komm - - kam gekommen", GO, LIVING, INSIDE, SEIN, NULL },
    /* something to a place: what lies and what stands are put with different verbs */
    { "put put put putting", "leg", PUT, HUMAN, LYING, 0, NULL },
    { "put put put putting", "stell", PUT, HUMAN, STANDING, 0, NULL },
    /* with a clause */
    { "think thought thought", "glaub", THAT, HUMAN, 0, STATE, NULL },
    { "know knew known", "wiss weißt weiß wusste gewusst", THAT, HUMAN, 0, STATE, NULL },
    { "say said said", "sag", THAT, HUMAN, 0, STATE, NULL },
    { "hope", "hoff", THAT, HUMAN, 0, STATE, NULL },
    { "see saw seen", "seh siehst sieht sah gesehen", THAT, HUMAN, 0, STATE, NULL },
    { "try", "versuch - - - versucht", TO, LIVING, 0, 0, NULL },
    { "begin began begun beginning", "beginn - - begann begonnen", TO, HUMAN, 0, 0, NULL },
    { "forget forgot forgotten forgetting", "vergess vergisst vergisst vergaß vergessen",
      TO, HUMAN, 0, 0, NULL },
    { "promise", "versprech versprichst verspricht versprach versprochen", TO, HUMAN, 0, 0, NULL },
};

const rela_preposition RELA_PLACES[] = {
    { "in", "in", KINDS_INSIDE },
    { "on", "auf", KIND_SURFACE },
    { "under", "unter", KIND_SURFACE },
    { "behind", "hinter", KIND_HOUSE | KIND_OPENS },
    { "next to", "neben", KIND_HOUSE | KIND_SURFACE },
    { "in front of", "vor", KIND_HOUSE | KIND_OPENS },
    { "on", "an", KIND_SHORE },
};

const rela_word_pair RELA_MANNERS[] = {
    { "quickly", "schnell", 0 }, { "slowly", "langsam", 0 }, { "quietly", "leise", 0 },
    { "carefully", "vorsichtig", 0 }, { "happily", "fröhlich", 0 }, { "alone", "allein", 0 },
};

const rela_word_pair RELA_OFTEN[] = {
    { "often", "oft", 0 }, { "always", "immer", 0 }, { "sometimes", "manchmal", 0 },
    { "never", "nie", 0 }, { "rarely", "selten", 0 }, { "usually", "meistens", 0 },
};

const rela_word_pair RELA_DAYS[] = {
    { "Monday", "Montag", 0 }, { "Tuesday", "Dienstag", 0 }, { "Wednesday", "Mittwoch", 0 },
    { "Thursday", "Donnerstag", 0 }, { "Friday", "Freitag", 0 }, { "Saturday", "Samstag", 0 },
    { "Sunday", "Sonntag", 0 },
};

const rela_word_pair RELA_MONTHS[] = {
    { "January", "Januar", 0 }, { "February", "Februar", 0 }, { "March", "März", 0 },
    { "April", "April", 0 }, { "May", "Mai", 0 }, { "June", "Juni", 0 }, { "July", "Juli", 0 },
    { "August", "August", 0 }, { "September", "September", 0 }, { "October", "Oktober", 0 },
    { "November", "November", 0 }, { "December", "Dezember", 0 },
};

const rela_word_pair RELA_PARTS[] = {
    { "morning", "Morgen", 0 }, { "evening", "Abend", 0 }, { "afternoon", "Nachmittag", 0 },
};

const rela_word_pair RELA_MOMENTS[] = {
    { "today", "heute", 0 }, { "yesterday", "gestern", 1 }, { "tomorrow", "morgen", 2 },
    { "now", "jetzt", 0 }, { "soon", "bald", 2 }, { "then", "dann", 1 },
};

const rela_word_pair RELA_UNITS[] = {
    { "day", "Tag", GENDER_M }, { "week", "Woche", GENDER_F }, { "year", "Jahr", GENDER_N },
    { "month", "Monat", GENDER_M },
};
/* clang-format on */

const size_t RELA_N_VERBS = sizeof RELA_VERBS / sizeof RELA_VERBS[0],
             RELA_N_PLACES = sizeof RELA_PLACES / sizeof RELA_PLACES[0],
             RELA_N_MANNERS = sizeof RELA_MANNERS / sizeof RELA_MANNERS[0],
             RELA_N_OFTEN = sizeof RELA_OFTEN / sizeof RELA_OFTEN[0],
             RELA_N_DAYS = sizeof RELA_DAYS / sizeof RELA_DAYS[0],
             RELA_N_MONTHS = sizeof RELA_MONTHS / sizeof RELA_MONTHS[0],
             RELA_N_PARTS = sizeof RELA_PARTS / sizeof RELA_PARTS[0],
             RELA_N_MOMENTS = sizeof RELA_MOMENTS / sizeof RELA_MOMENTS[0],
             RELA_N_UNITS = sizeof RELA_UNITS / sizeof RELA_UNITS[0];

bool rela_word_form(char out[FORM_MAX], const char *forms, int i)
{
    const char *at = forms;
    for (; i > 0 && at; i--) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    const size_t len = at ? strcspn(at, " ") : 0;
    if (len == 0 || len >= FORM_MAX || *at == '+' || *at == '-')
        return false;
    memcpy(out, at, len);
    out[len] = '\0';
    return true;
}

const char *rela_word_extra(const char *forms)
{
    const char *plus = strchr(forms, '+');
    return plus ? plus + 1 : NULL;
}

void rela_word_join(char out[FORM_MAX], const char *a, const char *b, const char *c)
{
    const char *const part[] = { a, b, c };
    size_t used = 0;
    for (int i = 0; i < 3; i++) {
        const size_t len = strnlen(part[i], FORM_MAX - 1 - used);
        memcpy(out + used, part[i], len);
        used += len;
    }
    out[used] = '\0';
}
