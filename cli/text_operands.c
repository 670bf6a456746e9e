/* SPDX-License-Identifier: MIT */
/* cli/text_operands.c - see text_operands.h. */
#include "text_operands.h"

#include "models.h"

rela_status rela_cli_take_texts(rela_cli *cli, const char **src, const char **tgt, rela_error *err)
{
    rela_list *given = &cli->operands;
    if (given->n < 2)
        return RELA_OK;
    if (*src || *tgt)
        return rela_fail(err, RELA_ARG, "texts are operands or --src and --tgt, not both");
    const char *first = given->items[given->n - 2];
    if (rela_cli_is_model(first))
        return rela_fail(err, RELA_ARG,
                         "%s is a model: name the source and the target text after it", first);
    *src = first;
    *tgt = given->items[given->n - 1];
    given->n -= 2;
    return RELA_OK;
}
