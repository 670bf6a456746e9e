/* SPDX-License-Identifier: MIT */
/* src/text/rules.h - the substitutions of the normaliser, as tables.
 *
 * The rows of a list are applied one after the other, each to the whole line. */
#ifndef RELA_TEXT_RULES_H
#define RELA_TEXT_RULES_H

/* What must stand beside the text of a rule. It is kept, but no other match can use it. */
typedef enum rela_beside { RELA_BESIDE_ANY, RELA_BESIDE_DIGIT, RELA_BESIDE_STOP } rela_beside;

typedef enum rela_rule_action {
    RELA_RULE_REPLACE,
    RELA_RULE_SWALLOW,       /* also removes the blanks that follow */
    RELA_RULE_SPACES,        /* collapses a run of spaces */
    RELA_RULE_QUOTE_INSIDE,  /* ", becomes ," */
    RELA_RULE_QUOTE_OUTSIDE, /* ." becomes ". unless it ends the line */
    RELA_RULE_END
} rela_rule_action;

typedef struct rela_rule {
    rela_rule_action action;
    const char *from, *to;
    rela_beside before, after;
} rela_rule;

/* Lists end with RELA_RULE_END. */
extern const rela_rule RELA_RULES_WIDE[], RELA_RULES_BLANKS[], RELA_RULES_PENN[],
    RELA_RULES_QUOTES[], RELA_RULES_COMMA_INSIDE[], RELA_RULES_COMMA_OUTSIDE[],
    RELA_RULES_DECIMAL_COMMA[], RELA_RULES_DECIMAL_POINT[];

#endif
