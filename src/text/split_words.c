/* SPDX-License-Identifier: MIT */
/* src/text/split_words.c - see split_words.h.
 *
 * Words are listed without their last stop, those of several parts ("z. B.") also without blanks.
 * Single letters and letters with stops between them need not be listed: they are of class
 * RELA_STOP_MAYBE anyway. */
#include "text/split_words.h"

#include "base/utf8.h"
#include "rela/text.h"
#include "text/language.h"

#include <string.h>
#include <utf8proc.h>

enum { WORD_MAX = 64 }; /* bytes */

typedef struct language {
    const char *code; /* NULL: the general lists */
    unsigned bits;    /* rela_stop_bit */
    /* By class; a lower-case entry also matches with a capital first letter. */
    const char *lists[RELA_STOP_LISTS];
    const char *suffix;   /* an entry that words may end with; NULL: none */
    const char *starters; /* words capitalised only at the start of a sentence */
    const char *ordinal;  /* words before an ordinal number */
    const char *counted;  /* words after an ordinal number */
} language;

/* clang-format off */
static const language LANGUAGES[] = {
    { .code = "en",
      .lists = {
          [RELA_STOP_NEVER] =
              "Mr Mrs Ms Mx Messrs Mmes Dr Drs Prof Profs Rev Revd Fr Hon Sen Sens Rep Reps Gov Govs "
              "Pres Gen Col Lt Maj Capt Cpl Sgt Cmdr Cdr Adm Brig Pvt Supt Insp Det Amb Atty Msgr Rt "
              "St Ste Mt Mts Ft e.g eg i.e ie viz cf vs approx incl excl esp ca",
          [RELA_STOP_NUMBER] =
              "no nos nr p pp pg vol vols ch chap chaps art arts sec sect fig figs eq eqs ref refs par "
              "para paras app tab ver ed tel ext cl ll",
          [RELA_STOP_MAYBE] =
              "al Inc Corp Co Cos Ltd Bros Jr Sr Esq Ave Blvd Rd Hwy Bldg Apt Dept Univ Assn Assoc "
              "Gov't Jan Feb Apr Jun Jul Aug Sept Sep Oct Nov Dec Tue Tues Wed Thu Thur Thurs Fri "
              "hr hrs min mins oz lb lbs ft yd yds tsp tbsp avg est misc orig Ph.D",
          [RELA_STOP_PLAIN] = "I a.m p.m am pm" },
      .starters =
          "The A An This That These Those There Here It Its It's He She They We You I My Your His Her "
          "Our Their What Who Where When Why How Which Whose And But Or So Yet If In On At By For From "
          "To With Without After Before Since While Although Though Because As Then Thus Hence "
          "However Therefore Moreover Furthermore Nevertheless Meanwhile Instead Otherwise Also Even "
          "Only Just Now Today Yesterday Tomorrow Yes No Not Nobody Nothing Everybody Everyone "
          "Everything Someone Somebody Something All Both Each Every Many Most Some Several Few "
          "Another Other Such One Two Three Is Are Was Were Do Does Did Can Could Would Should "
          "Have Has Had Let Please Perhaps Maybe Once During Under Over Between Through Until" },

    { .code = "de", .bits = RELA_STOP_ORDINALS | RELA_STOP_ROMAN,
      .lists = {
          [RELA_STOP_NEVER] =
              "Dr Dres Prof Hr Hrn Fr Frl Ing Dipl Dipl.-Ing Mag St Mr Mrs Ms Nr Nrn bzw bspw beispielsw vgl "
              "z.B z.T z.Zt z.Hd z.H d.h d.i i.d.R i.S i.S.v i.V.m i.R i.H.v i.A i.V m.E m.W m.a.W u.U u.E o.g s.o "
              "s.u u.z sog sogen insb insbes ggf gegebenenf evtl ca inkl exkl einschl ausschl zzgl zuzgl abzgl "
              "bzgl betr bez lfd mind durchschn urspr ehem verh geb verw dt engl frz franz österr "
              "röm griech lat ital span russ amerik brit kath evang jüd isl allg bes spez versch "
              "zw hl Hg Hrsg hrsg Übers übers Bearb bearb Verf Anm lt gem entspr vorm nachm südl nördl östl westl",
          [RELA_STOP_NUMBER] =
              "art abs abschn ziff rn rdnr rz buchst lit bd bde kap abb tab fig vol tel fax aufl "
              "jg heft pos",
          [RELA_STOP_MAYBE] =
              "usw usf etc dgl dergl u.dgl o.dgl ff Mio Mrd Tsd Bio Std Min Sek Jh Jhd Jhdt Jahrh Chr v.Chr "
              "n.Chr Str str Pl Hbf Bhf Co Inc Ltd jun sen jr sr max min rd Jan Feb Apr Aug Sept Sep Okt "
              "Nov Dez" },
      .starters =
          "Der Die Das Dem Den Des Dieser Diese Dieses Diesem Diesen Ein Eine Einen Einem Einer Es Er Sie Wir "
          "Ich Du Man Und Aber Oder Denn Doch Sondern Auch Dann Da Dort Hier Heute Gestern Morgen Nun Jetzt "
          "So Wenn Als Weil Obwohl Während Nachdem Bevor Falls Sobald Nach Vor Mit Bei In Im An Am Auf Aus Für "
          "Von Vom Zu Zum Zur Um Unter Über Wie Was Wer Wen Wem Wo Wohin Woher Warum Weshalb Wann Welche Welcher "
          "Welches Kein Keine Keiner Nicht Nichts Niemand Jemand Alle Alles Jeder Jede Jedes Beide Viele Einige "
          "Manche Mein Meine Dein Deine Sein Seine Ihr Ihre Unser Unsere Deshalb Daher Darum Deswegen Dennoch "
          "Trotzdem Außerdem Allerdings Jedoch Zudem Damit Dadurch Dabei Danach Dagegen Dafür Dazu Daran "
          "Darauf Daraus Davon Seit Bis Ohne Durch Gegen Nur Noch Schon Erst Leider Vielleicht Natürlich "
          "Schließlich Zunächst Ferner Ebenso Insbesondere Ja Nein Bitte Danke Ist Sind War Waren Hat Haben "
          "Kann Können Muss Müssen Soll Sollte Wird Werden Wurde Hast Bist Ob Dass Daß Solche Sowohl Weder "
          "Meiner Wegen Trotz Laut Neben Zwischen Innerhalb Seitdem Immer Manchmal Oft Bereits Gestatten Lassen Angesichts Aufgrund Hinsichtlich "
          "Gleichzeitig Ebenfalls Meines Unseres Dieselbe Welchen Herr Frau Meine Liebe",
      .suffix = "str", /* "Kesselstr. 5" */
      .ordinal =
          "am im vom zum zur beim der die das des dem den ein eine einen einem einer eines ab bis seit "
          "ihr ihre ihren ihrem ihrer sein seine seinen seinem seiner mein meine meinen meinem meiner dein deine "
          "deinen deinem unser unsere unseren unserem jeder jede jeden jedem dieser diese diesen diesem kein "
          "keine und oder bzw sowie auf als an",
      .counted =
          "Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember "
          "Jan Feb Apr Jun Jul Aug Sept Okt Nov Dez Jahrhundert Jahrhunderts Jh Tag Woche Monat Jahr Jahres Stunde "
          "Minute Lebensjahr Geburtstag Jahrestag Schuljahr Semester Klasse Auflage Ausgabe Kapitel Band Teil Absatz "
          "Satz Akt Szene Strophe Stock Etage Platz Rang Stelle Runde Halbzeit Spieltag Liga Bundesliga Sitzung Tagung "
          "Konferenz Kongress Weltkrieg Generation Bezirk" },

    { .code = "fr",
      .lists = {
          [RELA_STOP_NEVER] =
              "M MM Mr Mme Mmes Mlle Mlles Mgr Me Dr Drs Pr Prs Prof St Ste Sts cf p.ex ex c.-à-d càd env av "
              "bd boul fg éd éds dir coll trad réf vs s.-ent lat angl all",
          [RELA_STOP_NUMBER] =
              "n no nos p pp chap vol art arts fig figs tab t tél fax al alin par ann",
          [RELA_STOP_MAYBE] =
              "J.-C hab janv févr fév avr juil sept oct nov déc Cie Ltd Inc ibid id op.cit loc.cit suiv",
          [RELA_STOP_PLAIN] = "y a" },
      .starters =
          "Le La Les L' Un Une Des Il Elle Ils Elles On Nous Vous Je J' Tu Ce C' Cet Cette Ces Cela Ça Mais Et Ou Où "
          "Donc Or Car Ni Que Qu' Qui Quand Comme Comment Pourquoi Quel Quelle Quels Quelles Si S' Dans En "
          "Sur Sous Avec Sans Pour Par À Au Aux De D' Du Après Avant Depuis Pendant Lorsque Lorsqu' Puis Ensuite Enfin "
          "Ainsi Alors Aussi Cependant Toutefois Pourtant Néanmoins Notre Nos Votre Vos Mon Ma Mes Ton Ta Tes "
          "Son Sa Ses Leur Leurs Tout Tous Toute Toutes Chaque Plusieurs Certains Certaines Aucun Aucune "
          "Personne Rien Oui Non Merci Est Est-ce Ne N' Voici Voilà Malheureusement Peut-être Parce Puisque Bien "
          "Même Aujourd'hui Hier Demain Maintenant Ici Là Deux Trois" },

    { .code = "cs", .bits = RELA_STOP_ROMAN,
      .lists = {
          [RELA_STOP_NEVER] =
              "p sl dr Dr ing Ing Ing.arch mgr Mgr Bc BcA MgA JUDr MUDr MDDr MVDr RNDr PhDr PaedDr PharmDr ThDr "
              "ThLic doc prof akad gen plk pplk mjr kpt npor por ppor rtm sv např tj tzn tzv resp popř příp "
              "event ev zejm zvl vč mj cca ca srov srv lat angl franc rus řec špan ital čes slov amer "
              "brit býv nar zemř zn ul nám nábř tř okr vl tzv pozn red přel překl vyd ed St Mr Mrs Ms vs "
              "t.č t.j t.zv m.j",
          [RELA_STOP_NUMBER] = "č čís čl čp čj str s kap odst obr tab sv roč r sb par písm tel fax pol",
          [RELA_STOP_MAYBE] =
              "tis mil mld hod min sek stol hl n.l př.n.l Kr př.Kr s.r.o a.s Inc Ltd Co ml st",
          [RELA_STOP_PLAIN] = "A I" },
      .starters =
          "Ten Ta To Ti Ty Tento Tato Toto Tito Tyto Ta Je Jsou Jsem Jsi Jsme Byl Byla Bylo Byli Byly Bude Budou On "
          "Ona Ono Oni My Vy Já A Ale Ani Anebo Nebo Však Avšak Pak Potom Poté Tak Také Taky Tedy Když Protože Proto "
          "Přesto Jak Jako Kde Kdy Kdo Co Proč Kam Který Která Které Kteří V Ve Na Do Od Za Po Před Při S Se Si Z Ze "
          "K Ke Ku U O Pro Bez Podle Mezi Pod Nad Přes Kvůli Během Jeho Její Jejich Můj Moje Náš Naše Váš Vaše "
          "Svůj Tím Tam Tady Zde Dnes Včera Zítra Teď Nyní Ano Ne Není Nejsou Možná Bohužel Pokud Jestli Jestliže "
          "Aby Kdyby Až I Jeden Jedna Jedno Dva Dvě Každý Každá Všichni Všechny Všechno Někdo Nikdo Něco Nic "
          "Několik Mnoho Navíc Dále Zatímco Mají Má Měl" },

    { .code = "es",
      .lists = {
          [RELA_STOP_NEVER] =
              "Sr Sra Srta Sres Sras D Dña Dr Dra Dres Dras Prof Profa Lic Ing Arq Gral Cnel Cmdte Sto Sta p.ej ej "
              "Av Avda Pza cf vs aprox St Mr Mrs",
          [RELA_STOP_NUMBER] = "núm núms n no pág págs p pp art arts cap caps vol vols fig figs tel t",
          [RELA_STOP_MAYBE] = "Ud Uds Vd Vds EE.UU EEUU Cía Ltda Inc a.C d.C a.J.C S.A",
          [RELA_STOP_PLAIN] = "y a o e" },
      .starters =
          "El La Los Las Un Una Unos Unas Lo Él Ella Ellos Ellas Yo Tú Nosotros Usted Ustedes Este Esta Esto Estos "
          "Estas Ese Esa Eso Esos Esas Aquel Aquella Pero Y O Ni Que Qué Quién Cómo Cuándo Cuando Dónde Donde Por "
          "Para Con Sin En De Del Al A Desde Hasta Después Antes Luego Entonces Así También Además Si Sí No "
          "Mi Su Sus Tu Nuestro Nuestra Es Era Fue Son Hay Se Me Te Le Les Como Aunque Todo Todos Cada Muchos "
          "Algunos Nadie Nada Hoy Ayer Mañana Ahora Aquí Ahí Allí" },

    { .code = "it",
      .lists = {
          [RELA_STOP_NEVER] =
              "Sig Sigg Sigra Sig.ra Sig.na Dott Dott.ssa Dr Prof Prof.ssa Proff Ing Avv Arch Geom Rag On Sen Gen Mons "
              "S Ss p.es es cfr cf vs ca St Mr Mrs",
          [RELA_STOP_NUMBER] = "art artt n nn num p pp pag pagg cap vol fig tab tel",
          [RELA_STOP_MAYBE] = "a.C d.C S.p.A S.r.l Inc Ltd",
          [RELA_STOP_PLAIN] = "e a o" },
      .starters =
          "Il Lo La I Gli Le L' Un Uno Una Un' Io Tu Lui Lei Noi Voi Loro Questo Questa Questi Queste Quest' Quello "
          "Quella Ma E Ed O Però Anche Non Che Chi Come Quando Dove Perché Se In Con Per Da Di Del Della Dei Dopo "
          "Prima Poi Così Allora Quindi Inoltre Tuttavia È Era Sono C' Ci Si Mi Ti Vi Tutti Tutto Ogni Nessuno "
          "Niente Oggi Ieri Domani Ora Adesso Qui Sì No Al Alla Nel Nella" },

    { .code = "pt",
      .lists = {
          [RELA_STOP_NEVER] =
              "Sr Sra Srs Sras Srta Dr Dra Drs Dras Prof Profa Eng Arq Exmo Exma Ilmo Ilma D Av Sto Sta p.ex ex cf vs "
              "aprox St Mr Mrs",
          [RELA_STOP_NUMBER] = "n no nos núm pág págs p pp art arts cap vol fig tel",
          [RELA_STOP_MAYBE] = "Ltda Cia Inc a.C d.C S.A V.Exa Exa",
          [RELA_STOP_PLAIN] = "e a o é" },
      .starters =
          "O A Os As Um Uma Uns Umas Ele Ela Eles Elas Eu Tu Nós Você Vocês Este Esta Isto Estes Estas Esse Essa Isso "
          "Aquele Aquela Mas E Ou Nem Que Quem Como Quando Onde Porque Por Para Com Sem Em No Na Nos Nas De Do "
          "Da Dos Das Ao À Desde Até Depois Antes Então Assim Também Além Se Sim Não Meu Minha Seu Sua Nosso "
          "Nossa É Era Foi São Há Todos Tudo Cada Muitos Alguns Ninguém Nada Hoje Ontem Amanhã Agora Aqui Ali" },

    { .code = "nl",
      .lists = {
          [RELA_STOP_NEVER] =
              "dhr mevr mw drs dr ir ing mr prof ds jhr bijv bv nl incl excl ca resp evt zgn d.w.z dwz o.a m.b.t mbt "
              "t.a.v i.p.v t.o.v vgl vs St m.n",
          [RELA_STOP_NUMBER] = "nr nrs blz pag p pp art hfst fig afb tab tel",
          [RELA_STOP_MAYBE] = "e.d a.u.b jl v.Chr n.Chr mln mld B.V N.V Inc Ltd Co",
          [RELA_STOP_PLAIN] = "u" },
      .starters =
          "De Het Een Hij Zij Ze Wij We Ik Jij Je U Jullie Dit Dat Deze Die Er Maar En Of Want Dus Ook Toen Dan Daar "
          "Hier Nu Als Omdat Hoewel Terwijl Wat Wie Waar Wanneer Hoe Waarom Welke In Op Aan Bij Met Van Voor Na "
          "Naar Uit Over Onder Door Om Zonder Zijn Haar Mijn Ons Onze Hun Niet Geen Niemand Niets Alle Alles Elke "
          "Iedere Is Was Heeft Vandaag Gisteren Morgen Daarom Echter Bovendien Ja Nee" },

    { .code = "pl", .bits = RELA_STOP_ROMAN,
      .lists = {
          [RELA_STOP_NEVER] =
              "p pp dr prof mgr inż hab lek płk mjr kpt por ppłk gen ks bp abp kard św im ul al pl os np tzn tzw tj zw "
              "m.in dot ok ww jw wg red tłum oprac por zob vs lp",
          [RELA_STOP_NUMBER] = "nr s str art ust pkt par poz rozdz rys tab tel t",
          [RELA_STOP_MAYBE] = "in tys mln mld godz min p.n.e n.e Sp z.o.o o.o",
          [RELA_STOP_PLAIN] = "A I" },
      .starters =
          "Ten Ta To Te Ci Tego Tym Tej On Ona Ono Oni One Ja Ty My Wy Jest Są Był Była Było Byli Były Będzie Ale A I Lub "
          "Albo Więc Jednak Także Też Również Potem Gdy Kiedy Jeśli Jeżeli Bo Ponieważ Jak Gdzie Kto Co Dlaczego "
          "Który Która W We Na Do Od Za Po Przed Przy Z Ze U O Dla Bez Według Między Jego Jej Ich Mój Nasz Wasz "
          "Nie Tak Tam Tu Dziś Dzisiaj Wczoraj Jutro Teraz Każdy Wszyscy Wszystko Nikt Nic Czy Niech" },

    { .code = "ru",
      .lists = {
          [RELA_STOP_NEVER] =
              "ул просп пл пер наб корп обл им проф акад доц канд докт инж ген т.е т.к т.н т.о напр см ср т.ч англ нем "
              "фр лат греч итал исп ок св гр",
          [RELA_STOP_NUMBER] = "стр рис табл гл ст п пп разд тел т с",
          [RELA_STOP_MAYBE] = "т.д т.п руб коп тыс млн млрд трлн гг вв чел мин сек час н.э до.н.э",
          [RELA_STOP_PLAIN] = "я" },
      .starters =
          "Он Она Оно Они Мы Вы Я Ты Это Этот Эта Эти Тот Та То Те И А Но Или Да Нет Однако Также Тогда Потом Затем "
          "Когда Если Потому Поэтому Как Где Кто Что Почему Который Которая В Во На До От За По Перед При С Со Из К Ко "
          "У О Об Для Без Его Её Ее Их Мой Наш Ваш Не Так Там Тут Здесь Сегодня Вчера Завтра Теперь Сейчас Все Всё "
          "Каждый Никто Ничего Был Была Было Были Будет Есть" },

    { .code = "sv",
      .lists = {
          [RELA_STOP_NEVER] =
              "hr fr dr prof t.ex tex bl.a d.v.s dvs ca resp inkl exkl jfr jf s.k kl ang enl f.d t.o.m fr.o.m",
          [RELA_STOP_NUMBER] = "nr s sid kap art fig tab tel",
          [RELA_STOP_MAYBE] = "m.m m.fl mfl f.Kr e.Kr milj mkr",
          [RELA_STOP_PLAIN] = "i å ö" },
      .starters =
          "Den Det De Han Hon Vi Jag Du Ni En Ett Men Och Eller Så Också Då När Om Eftersom Som Vad Vem Hur Varför I På "
          "Av Med Till Från Efter Under Utan Hans Hennes Min Vår Är Var Har Hade Inte Ingen Alla Allt Varje Idag Igår "
          "Nu Här Där Detta Denna Dessa Ja Nej För Att" },

    /* Any other language. */
    { .code = NULL,
      .lists = {
          [RELA_STOP_NEVER] = "Mr Mrs Ms Dr Prof St Ing Mag Gen Col Capt Lt Sgt Rev cf vs ca",
          [RELA_STOP_NUMBER] = "no nr p pp vol art fig tab tel",
          [RELA_STOP_MAYBE] = "Co Inc Ltd Corp Jr Sr" } },
};
/* clang-format on */

static const language *find(const char *code);
static rela_status fill(rela_map **out, const char *words, rela_error *err);
static uint32_t find_either(const rela_map *map, const char *word, size_t len);
static size_t lower_first(char *out, const char *word, size_t len);

rela_status rela_split_words_init(rela_split_words *w, const char *code, rela_error *err)
{
    const char *known = NULL;
    *w = (rela_split_words){ .bits = 0 };
    rela_status st = rela_language_code(&known, code ? code : "en", err);
    if (st != RELA_OK)
        return st;
    const language *l = find(known);
    w->bits = l->bits;
    w->suffix = l->suffix;
    st = fill(&w->classes, l->lists[0], err);
    w->last[0] = w->classes ? rela_map_size(w->classes) : 0;
    for (size_t i = 1; i < RELA_STOP_LISTS && st == RELA_OK; i++) {
        st = rela_language_add(w->classes, l->lists[i], err);
        w->last[i] = rela_map_size(w->classes);
    }
    st = st ? st : fill(&w->starters, l->starters, err);
    st = st ? st : fill(&w->ordinal, l->ordinal, err);
    return st ? st : fill(&w->counted, l->counted, err);
}

void rela_split_words_deinit(rela_split_words *w)
{
    rela_map_destroy(w->classes);
    rela_map_destroy(w->starters);
    rela_map_destroy(w->ordinal);
    rela_map_destroy(w->counted);
}

rela_stop_class rela_stop_class_of(const rela_split_words *w, const char *word, size_t len)
{
    const uint32_t number = find_either(w->classes, word, len);
    size_t c = 0;
    while (c < RELA_STOP_LISTS && number >= w->last[c])
        c++;
    const size_t n = w->suffix ? strlen(w->suffix) : len;
    if (c == RELA_STOP_WORD && len > n && memcmp(word + len - n, w->suffix, n) == 0)
        return rela_stop_class_of(w, w->suffix, n);
    return (rela_stop_class)c;
}

bool rela_split_has(const rela_map *set, const char *word, size_t len)
{
    return rela_map_find(set, word, len) != RELA_MAP_NONE;
}

bool rela_split_has_either(const rela_map *set, const char *word, size_t len)
{
    return find_either(set, word, len) != RELA_MAP_NONE;
}

bool rela_split_is_roman(rela_span word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!word.text[i] || !strchr("IVX", word.text[i])) /* "CD" and "DVD" are words */
            return false;
    return word.len > 0;
}

/* The row of a code of rela_language_code. */
static const language *find(const char *code)
{
    const size_t len = rela_language_length(code);
    const language *l = LANGUAGES;
    while (l->code && (strlen(l->code) != len || memcmp(l->code, code, len) != 0))
        l++;
    return l;
}

static rela_status fill(rela_map **out, const char *words, rela_error *err)
{
    *out = rela_map_create(0);
    if (!*out)
        return rela_fail(err, RELA_NOMEM, "no memory for abbreviations");
    return rela_language_add(*out, words, err);
}

/* Finds the word as it is, or else with a lower-case first letter; one letter only as it is. */
static uint32_t find_either(const rela_map *map, const char *word, size_t len)
{
    char lower[WORD_MAX + 4];
    const uint32_t number = rela_map_find(map, word, len);
    if (number != RELA_MAP_NONE || len < 2 || len > WORD_MAX)
        return number;
    const size_t n = lower_first(lower, word, len);
    return n ? rela_map_find(map, lower, n) : RELA_MAP_NONE;
}

/* word with a lower-case first letter, up to 3 bytes longer; returns 0 if it is a single letter. */
static size_t lower_first(char *out, const char *word, size_t len)
{
    uint32_t code = 0;
    const size_t n = rela_utf8_next(&code, word, len);
    const size_t m = n ? rela_utf8_put(out, (uint32_t)utf8proc_tolower((utf8proc_int32_t)code)) : 0;
    memcpy(out + m, word + n, len - n);
    return n < len ? m + len - n : 0;
}
