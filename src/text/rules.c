/* SPDX-License-Identifier: MIT */
/* src/text/rules.c - see rules.h. */
#include "text/rules.h"

#include <stddef.h>

#define NBSP "\xC2\xA0"

/* clang-format off */
const rela_rule RELA_RULES_WIDE[] = {
    { RELA_RULE_REPLACE, "，", ",", 0, 0 }, { RELA_RULE_SWALLOW, "。", ". ", 0, 0 },
    { RELA_RULE_REPLACE, "、", ",", 0, 0 }, { RELA_RULE_REPLACE, "”", "\"", 0, 0 },
    { RELA_RULE_REPLACE, "“", "\"", 0, 0 }, { RELA_RULE_REPLACE, "∶", ":", 0, 0 },
    { RELA_RULE_REPLACE, "：", ":", 0, 0 }, { RELA_RULE_REPLACE, "？", "?", 0, 0 },
    { RELA_RULE_REPLACE, "《", "\"", 0, 0 }, { RELA_RULE_REPLACE, "》", "\"", 0, 0 },
    { RELA_RULE_REPLACE, "）", ")", 0, 0 }, { RELA_RULE_REPLACE, "！", "!", 0, 0 },
    { RELA_RULE_REPLACE, "（", "(", 0, 0 }, { RELA_RULE_REPLACE, "；", ";", 0, 0 },
    { RELA_RULE_REPLACE, "」", "\"", 0, 0 }, { RELA_RULE_REPLACE, "「", "\"", 0, 0 },
    { RELA_RULE_REPLACE, "０", "0", 0, 0 }, { RELA_RULE_REPLACE, "１", "1", 0, 0 },
    { RELA_RULE_REPLACE, "２", "2", 0, 0 }, { RELA_RULE_REPLACE, "３", "3", 0, 0 },
    { RELA_RULE_REPLACE, "４", "4", 0, 0 }, { RELA_RULE_REPLACE, "５", "5", 0, 0 },
    { RELA_RULE_REPLACE, "６", "6", 0, 0 }, { RELA_RULE_REPLACE, "７", "7", 0, 0 },
    { RELA_RULE_REPLACE, "８", "8", 0, 0 }, { RELA_RULE_REPLACE, "９", "9", 0, 0 },
    { RELA_RULE_SWALLOW, "．", ". ", 0, 0 }, { RELA_RULE_REPLACE, "～", "~", 0, 0 },
    { RELA_RULE_REPLACE, "’", "'", 0, 0 }, { RELA_RULE_REPLACE, "…", "...", 0, 0 },
    { RELA_RULE_REPLACE, "━", "-", 0, 0 }, { RELA_RULE_REPLACE, "〈", "<", 0, 0 },
    { RELA_RULE_REPLACE, "〉", ">", 0, 0 }, { RELA_RULE_REPLACE, "【", "[", 0, 0 },
    { RELA_RULE_REPLACE, "】", "]", 0, 0 }, { RELA_RULE_REPLACE, "％", "%", 0, 0 },
    { RELA_RULE_END, NULL, NULL, 0, 0 },
};

const rela_rule RELA_RULES_BLANKS[] = {
    { RELA_RULE_REPLACE, "\r", "", 0, 0 },
    { RELA_RULE_REPLACE, "(", " (", 0, 0 },
    { RELA_RULE_REPLACE, ")", ") ", 0, 0 },
    { RELA_RULE_SPACES, "  ", " ", 0, 0 },
    { RELA_RULE_REPLACE, ") ", ")", 0, RELA_BESIDE_STOP },
    { RELA_RULE_REPLACE, "( ", "(", 0, 0 },
    { RELA_RULE_REPLACE, " )", ")", 0, 0 },
    { RELA_RULE_REPLACE, " %", "%", RELA_BESIDE_DIGIT, 0 },
    { RELA_RULE_REPLACE, " :", ":", 0, 0 },
    { RELA_RULE_REPLACE, " ;", ";", 0, 0 },
    { RELA_RULE_END, NULL, NULL, 0, 0 },
};

const rela_rule RELA_RULES_PENN[] = {
    { RELA_RULE_REPLACE, "`", "'", 0, 0 },
    { RELA_RULE_REPLACE, "''", " \" ", 0, 0 },
    { RELA_RULE_END, NULL, NULL, 0, 0 },
};

const rela_rule RELA_RULES_QUOTES[] = {
    { RELA_RULE_REPLACE, "„", "\"", 0, 0 },
    { RELA_RULE_REPLACE, "“", "\"", 0, 0 },
    { RELA_RULE_REPLACE, "”", "\"", 0, 0 },
    { RELA_RULE_REPLACE, "–", "-", 0, 0 },
    { RELA_RULE_REPLACE, "—", " - ", 0, 0 },
    { RELA_RULE_SPACES, "  ", " ", 0, 0 },
    { RELA_RULE_REPLACE, "´", "'", 0, 0 },
    { RELA_RULE_REPLACE, "‘", "'", 0, 0 },
    { RELA_RULE_REPLACE, "‚", "'", 0, 0 },
    { RELA_RULE_REPLACE, "’", "'", 0, 0 },
    { RELA_RULE_REPLACE, "''", "\"", 0, 0 },
    { RELA_RULE_REPLACE, "…", "...", 0, 0 },
    { RELA_RULE_REPLACE, NBSP "«" NBSP, "\"", 0, 0 },
    { RELA_RULE_REPLACE, "«" NBSP, "\"", 0, 0 },
    { RELA_RULE_REPLACE, "«", "\"", 0, 0 },
    { RELA_RULE_REPLACE, NBSP "»" NBSP, "\"", 0, 0 },
    { RELA_RULE_REPLACE, NBSP "»", "\"", 0, 0 },
    { RELA_RULE_REPLACE, "»", "\"", 0, 0 },
    { RELA_RULE_REPLACE, NBSP "%", "%", 0, 0 },
    { RELA_RULE_REPLACE, "nº" NBSP, "nº ", 0, 0 },
    { RELA_RULE_REPLACE, NBSP ":", ":", 0, 0 },
    { RELA_RULE_REPLACE, NBSP "ºC", " ºC", 0, 0 },
    { RELA_RULE_REPLACE, NBSP "cm", " cm", 0, 0 },
    { RELA_RULE_REPLACE, NBSP "?", "?", 0, 0 },
    { RELA_RULE_REPLACE, NBSP "!", "!", 0, 0 },
    { RELA_RULE_REPLACE, NBSP ";", ";", 0, 0 },
    { RELA_RULE_REPLACE, "," NBSP, ", ", 0, 0 },
    { RELA_RULE_SPACES, "  ", " ", 0, 0 },
    { RELA_RULE_END, NULL, NULL, 0, 0 },
};

const rela_rule RELA_RULES_COMMA_INSIDE[] = {
    { RELA_RULE_QUOTE_INSIDE, "\"", "\"", 0, 0 },
    { RELA_RULE_END, NULL, NULL, 0, 0 },
};

const rela_rule RELA_RULES_COMMA_OUTSIDE[] = {
    { RELA_RULE_REPLACE, ",\"", "\",", 0, 0 },
    { RELA_RULE_QUOTE_OUTSIDE, ".\"", "\".", 0, 0 },
    { RELA_RULE_END, NULL, NULL, 0, 0 },
};

const rela_rule RELA_RULES_DECIMAL_COMMA[] = {
    { RELA_RULE_REPLACE, NBSP, ",", RELA_BESIDE_DIGIT, RELA_BESIDE_DIGIT },
    { RELA_RULE_END, NULL, NULL, 0, 0 },
};

const rela_rule RELA_RULES_DECIMAL_POINT[] = {
    { RELA_RULE_REPLACE, NBSP, ".", RELA_BESIDE_DIGIT, RELA_BESIDE_DIGIT },
    { RELA_RULE_END, NULL, NULL, 0, 0 },
};
/* clang-format on */
