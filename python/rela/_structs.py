# SPDX-License-Identifier: MIT
"""Structs of the public headers, member by member; a test compares the layout with that of a C compiler."""
from __future__ import annotations

from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int,
                    c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p)


def _fields(kind, names):
    return [(name, kind) for name in names.split()]


_SIZE = [("struct_size", c_size_t)]
LOG = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)
PROGRESS = CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64)


class Error(Structure):
    C_NAME = "rela_error"
    _fields_ = [("status", c_int32), ("message", c_char * 508)]


class Buffer(Structure):
    C_NAME = "rela_buffer"
    _fields_ = [("data", c_void_p), ("len", c_size_t), ("cap", c_size_t)]


class RuntimeOptions(Structure):
    C_NAME = "rela_runtime_options"
    INIT = "rela_runtime_options_init"
    _fields_ = _SIZE + [("n_threads", c_int32), ("log", LOG), ("log_ctx", c_void_p)]


class ModelOptions(Structure):
    C_NAME = "rela_model_options"
    INIT = "rela_model_options_init"
    _fields_ = _SIZE + [("int8", c_bool), ("part", c_int32)]


class ModelInfoOptions(Structure):
    C_NAME = "rela_model_info_options"
    INIT = "rela_model_info_options_init"
    _fields_ = _SIZE + [("json", c_bool), ("n_threads", c_int32), ("max_header", c_int64)]


class ModelShape(Structure):
    C_NAME = "rela_model_shape"
    _fields_ = _SIZE + _fields(
        c_int32, "enc_layers dec_layers heads width ffn max_length vocab_src vocab_tgt") + [
            ("attention", c_char * 256 * 3)] + _fields(c_int32, "sources stacks")


class TranslateOptions(Structure):
    C_NAME = "rela_translate_options"
    INIT = "rela_translate_options_init"
    _fields_ = _SIZE + _fields(c_int32, "method beam_size n_best penalty") + [
        ("length_penalty", c_double), ("max_factor", c_double)
    ] + _fields(c_int32, "max_extra unk long_sentence") + [
        ("temperature", c_double), ("top_k", c_int32), ("top_p", c_double), ("seed", c_uint64),
        ("first_line", c_uint64)
    ] + _fields(c_int32, "batch_sentences batch_tokens") + [("attention", c_bool),
        ("prefix", POINTER(c_char_p)), ("prefix_len", POINTER(c_size_t)), ("shortlist", c_void_p),
        ("not_finite", c_int32), ("source", c_int32), ("split", c_int32), ("src_language", c_char_p),
        ("progress", PROGRESS), ("progress_ctx", c_void_p)]


ON_END = CFUNCTYPE(None, c_void_p, c_uint64, c_void_p, POINTER(Error))


class AsyncRequest(Structure):
    C_NAME = "rela_async_request"
    INIT = "rela_async_request_init"
    _fields_ = _SIZE + [("texts", POINTER(c_char_p)), ("lens", POINTER(c_size_t)),
                        ("options", POINTER(TranslateOptions)), ("seconds", c_double), ("on_end", ON_END),
                        ("ctx", c_void_p)]


class LinkOptions(Structure):
    C_NAME = "rela_link_options"
    INIT = "rela_link_options_init"
    _fields_ = _SIZE + _fields(c_int32, "layer head") + [("soft", c_bool)]


class ScoreOptions(Structure):
    C_NAME = "rela_score_options"
    INIT = "rela_score_options_init"
    _fields_ = _SIZE + [("batch_tokens", c_int32), ("first_line", c_uint64), ("not_finite", c_int32),
                        ("progress", PROGRESS), ("progress_ctx", c_void_p)]


class Pairs(Structure):
    C_NAME = "rela_pairs"
    _fields_ = [("src", POINTER(c_char_p)), ("src_lens", POINTER(c_size_t)),
                ("tgt", POINTER(c_char_p)), ("tgt_lens", POINTER(c_size_t)), ("n", c_size_t)]


class AttentionRow(Structure):
    C_NAME = "rela_attention_row"
    _fields_ = [("pair", c_size_t), ("stack", c_int32), ("layer", c_int32), ("head", c_int32),
                ("query", c_uint32), ("n_keys", c_uint32), ("keys", POINTER(c_uint32)),
                ("weights", POINTER(c_float)), ("n", c_uint32), ("type", c_int32), ("source", c_int32)]


ON_ROW = CFUNCTYPE(c_int, c_void_p, POINTER(AttentionRow))


SOURCES_MAX = 4


class TrainText(Structure):
    C_NAME = "rela_train_text"
    _fields_ = [("src", POINTER(c_char_p)), ("tgt", c_char_p)]


STOP = CFUNCTYPE(c_int, c_void_p)


class TrainOptions(Structure):
    C_NAME = "rela_train_options"
    INIT = "rela_train_options_init"
    _fields_ = _SIZE + _fields(
        c_char_p, "preset train_src train_tgt valid_src valid_tgt out init src_lang tgt_lang") + _fields(
        c_bool, "tokenise normalise lowercase") + _fields(
        c_int64, "merges") + _fields(
        c_char_p, "codes vocab_src vocab_tgt") + _fields(
        c_int64, "vocab_size vocab_min") + _fields(
        c_double, "bpe_dropout") + _fields(
        c_char_p, "attention attention_enc attention_dec attention_cross") + _fields(
        c_int64, "width ffn heads enc_layers dec_layers max_length") + _fields(
        c_char_p, "norm tie") + _fields(
        c_bool, "norm_per_head") + _fields(
        c_double, "dropout dropout_embed dropout_attention dropout_ffn ln_epsilon attn_epsilon attn_slope "
        "attn_alpha attn_fuse") + _fields(
        c_int64, "attn_top attn_window attn_stride updates epochs batch_tokens") + _fields(
        c_double, "lr lr_start lr_least") + _fields(
        c_int64, "warmup cool_down") + _fields(
        c_char_p, "schedule") + _fields(
        c_double, "beta1 beta2 adam_epsilon weight_decay clip label_smoothing r_drop") + _fields(
        c_char_p, "loss_mean") + _fields(
        c_int64, "seed threads micro_batch max_skipped") + _fields(
        c_bool, "cut_long") + _fields(
        c_double, "max_ratio") + _fields(
        c_int64, "data_memory report_every valid_every save_every keep average patience") + _fields(
        c_char_p, "best_by") + _fields(
        c_int64, "valid_beam") + _fields(
        c_char_p, "train_src_2 train_src_3 train_src_4 valid_src_2 valid_src_3 valid_src_4 "
        "src_lang_2 src_lang_3 src_lang_4") + _fields(
        c_bool, "share_encoders") + _fields(
        c_char_p, "cross") + [("more", POINTER(TrainText)), ("n_more", c_size_t),
                                  ("gradient_slots", c_int64)] + _fields(
        c_char_p, "licence description date") + [("mpi", c_bool), ("gradient_groups", c_int64),
                                                     ("hold_out", c_int64), ("max_time", c_int64),
                                                     ("stop", STOP), ("stop_ctx", c_void_p)]


class TrainEvent(Structure):
    C_NAME = "rela_train_event"
    _fields_ = [("kind", c_int32), ("text", c_char_p)] + _fields(
        c_uint64, "update updates epoch") + _fields(
        c_double, "loss nll rate grad_norm tokens_per_second padding perplexity bleu") + [
        ("is_best", c_bool)] + _fields(c_uint32, "rank ranks")


ON_EVENT = CFUNCTYPE(c_int, c_void_p, POINTER(TrainEvent))


class AttentionOptions(Structure):
    C_NAME = "rela_attention_options"
    INIT = "rela_attention_options_init"
    _fields_ = _SIZE + [("kind", c_char_p)] + _fields(
        c_int32, "heads head_width max_length n_threads") + _fields(c_bool, "causal norm_per_head") + _fields(
        c_double, "epsilon dropout slope alpha fuse") + _fields(c_int32, "top window stride")


class AttentionLearned(Structure):
    C_NAME = "rela_attention_learned"
    _fields_ = _SIZE + _fields(c_size_t, "gain gate head") + _fields(
        c_bool, "random_gain random_gate") + _fields(c_double, "gain_start head_start")


class AttentionInput(Structure):
    C_NAME = "rela_attention_input"
    INIT = "rela_attention_input_init"
    _fields_ = _SIZE + _fields(c_size_t, "n q_step k_step") + _fields(
        c_void_p, "q_lens k_lens q k v") + _fields(c_size_t, "ldq ldk ldv") + _fields(
        c_void_p, "gain gate head") + [("seed", c_uint64), ("training", c_bool)]


class AttentionOutput(Structure):
    C_NAME = "rela_attention_output"
    INIT = "rela_attention_output_init"
    _fields_ = _SIZE + [("y", c_void_p), ("ldy", c_size_t), ("mixed", c_void_p),
                        ("weights", c_void_p)]


class AttentionGradient(Structure):
    C_NAME = "rela_attention_gradient"
    INIT = "rela_attention_gradient_init"
    _fields_ = _SIZE + [("dy", c_void_p), ("lddy", c_size_t)] + _fields(
        c_void_p, "mixed dq dk dv dgain dgate dhead")


class TokeniserOptions(Structure):
    C_NAME = "rela_tokeniser_options"
    INIT = "rela_tokeniser_options_init"
    _fields_ = _SIZE + [("language", c_char_p)] + _fields(
        c_bool, "no_escape aggressive_dash lowercase") + [
        ("protect", POINTER(c_char_p)), ("n_protect", c_size_t)]


class DetokeniserOptions(Structure):
    C_NAME = "rela_detokeniser_options"
    INIT = "rela_detokeniser_options_init"
    _fields_ = _SIZE + [("language", c_char_p), ("no_unescape", c_bool)]


class NormaliserOptions(Structure):
    C_NAME = "rela_normaliser_options"
    INIT = "rela_normaliser_options_init"
    _fields_ = _SIZE + [("language", c_char_p), ("form", c_int)] + _fields(
        c_bool, "keep_breaks wide_punctuation no_punctuation keep_penn no_quote_commas no_numbers "
        "remove_control collapse_blanks lowercase")


class SplitterOptions(Structure):
    C_NAME = "rela_splitter_options"
    INIT = "rela_splitter_options_init"
    _fields_ = _SIZE + [("language", c_char_p)]


class Sentence(Structure):
    C_NAME = "rela_sentence"
    _fields_ = _fields(c_size_t, "begin end")


class BpeLearnOptions(Structure):
    C_NAME = "rela_bpe_learn_options"
    INIT = "rela_bpe_learn_options_init"
    _fields_ = _SIZE + _fields(c_uint64, "n_symbols min_frequency") + [
        ("total_symbols", c_bool), ("progress", PROGRESS), ("progress_ctx", c_void_p)]


class BpeOptions(Structure):
    C_NAME = "rela_bpe_options"
    INIT = "rela_bpe_options_init"
    _fields_ = _SIZE + [
        ("merges", c_int64), ("separator", c_char_p), ("vocabulary", c_void_p),
        ("vocabulary_threshold", c_uint64), ("glossaries", POINTER(c_char_p)),
        ("n_glossaries", c_size_t), ("dropout", c_double), ("seed", c_uint64)]


class BleuOptions(Structure):
    C_NAME = "rela_bleu_options"
    INIT = "rela_bleu_options_init"
    _fields_ = _SIZE + _fields(c_int32, "tokens smoothing") + [("smooth_value", c_double)] + _fields(
        c_int32, "max_order") + _fields(c_bool, "lowercase effective_order")


class ChrfOptions(Structure):
    C_NAME = "rela_chrf_options"
    INIT = "rela_chrf_options_init"
    _fields_ = _SIZE + _fields(c_int32, "char_order word_order") + [("beta", c_double)] + _fields(
        c_bool, "lowercase whitespace eps_smoothing")


class Segment(Structure):
    C_NAME = "rela_segment"
    _fields_ = [("hyp", c_char_p), ("hyp_len", c_size_t), ("refs", POINTER(c_char_p)),
                ("ref_lens", POINTER(c_size_t)), ("n_refs", c_size_t)]


BLEU_ORDER_MAX = 16


class BleuFigures(Structure):
    C_NAME = "rela_bleu_figures"
    _fields_ = _SIZE + _fields(c_double, "score brevity ratio") + _fields(
        c_uint64, "hyp_len ref_len") + [("max_order", c_int32)] + _fields(
        c_double * BLEU_ORDER_MAX, "precision correct total")


class Signature(Structure):
    C_NAME = "rela_signature"
    INIT = "rela_signature_init"
    _fields_ = _SIZE + [("n_refs", c_size_t), ("bootstrap", c_int64), ("randomise", c_int64),
                        ("seed", c_uint64)]


class AlignOptions(Structure):
    C_NAME = "rela_align_options"
    INIT = "rela_align_options_init"
    _fields_ = _SIZE + _fields(c_char_p, "src tgt") + _fields(c_int32, "layer head") + [
        ("shift", c_bool), ("threshold", c_double), ("soft", c_bool), ("reverse", c_void_p)] + _fields(
        c_int32, "reverse_layer reverse_head") + [("reverse_shift", c_bool), ("symmetrise", c_int32),
        ("best_on", c_char_p), ("gold_base", c_int32), ("gold_reverse", c_bool),
        ("only", c_int64)] + _fields(
        c_char_p, "src_2 src_3 src_4") + [("source", c_int32), ("job", c_void_p)]


ALIGN_LEARN_PROGRESS = CFUNCTYPE(c_int, c_void_p, c_int32, c_uint64, c_uint64)


class AlignLearnOptions(Structure):
    C_NAME = "rela_align_learn_options"
    INIT = "rela_align_learn_options_init"
    _fields_ = _SIZE + _fields(c_char_p, "src tgt src_lang tgt_lang") + [("tokenise", c_bool)] + _fields(
        c_int64, "merges updates threads seed") + [
        ("progress", ALIGN_LEARN_PROGRESS), ("progress_ctx", c_void_p)]


class Aligned(Structure):
    C_NAME = "rela_aligned"
    _fields_ = [("line", c_uint64), ("links", c_char_p)] + _fields(
        c_size_t, "links_len n_src n_tgt") + [
        ("src_words", POINTER(c_char_p)), ("tgt_words", POINTER(c_char_p)),
        ("weights", POINTER(c_float))]


ALIGNED = CFUNCTYPE(c_int, c_void_p, POINTER(Aligned))


class AlignReport(Structure):
    C_NAME = "rela_align_report"
    _fields_ = _SIZE + _fields(c_int32, "layer head") + [("shift", c_bool)] + _fields(
        c_int32, "reverse_layer reverse_head") + [("reverse_shift", c_bool)] + _fields(
        c_double, "aer reverse_aer") + _fields(c_uint64, "dev_pairs lines empty too_long")


class AnalyseOptions(Structure):
    C_NAME = "rela_analyse_options"
    INIT = "rela_analyse_options_init"
    _fields_ = _SIZE + _fields(c_char_p, "src tgt gold") + [
        ("gold_base", c_int32), ("gold_reverse", c_bool)] + _fields(c_char_p, "tags out dump") + _fields(
        c_uint64, "seed limit") + [("example", c_int64)] + [("layer", c_int32), ("skip_end", c_bool),
        ("names", POINTER(c_char_p)), ("progress", PROGRESS), ("progress_ctx", c_void_p)
    ] + _fields(c_char_p, "src_2 src_3 src_4") + [("source", c_int32), ("pieces", c_bool), ("job", c_void_p)]


class ViewTarget(Structure):
    C_NAME = "rela_view_target"
    _fields_ = [("sentence", c_size_t), ("text", c_char_p), ("len", c_size_t), ("scored", c_bool), ("score", c_double)]


class ViewText(Structure):
    C_NAME = "rela_view_text"
    _fields_ = _SIZE + [
        ("src", POINTER(c_char_p)), ("src_lens", POINTER(c_size_t)), ("n", c_size_t),
        ("targets", POINTER(ViewTarget)), ("n_targets", c_size_t), ("gold", POINTER(c_char_p)),
        ("n_gold", c_size_t), ("first_line", c_uint64)]


class ViewOptions(Structure):
    C_NAME = "rela_view_options"
    INIT = "rela_view_options_init"
    _fields_ = _SIZE + [
        ("title", c_char_p), ("names", POINTER(c_char_p)), ("gold_base", c_int32), ("gold_reverse", c_bool),
        ("worth", c_bool), ("form", c_int32), ("progress", PROGRESS), ("progress_ctx", c_void_p)]


class ViewImport(Structure):
    C_NAME = "rela_view_import"
    _fields_ = _SIZE + _fields(c_char_p, "path src tgt gold") + [
        ("gold_base", c_int32), ("gold_reverse", c_bool), ("limit", c_uint64), ("title", c_char_p),
        ("form", c_int32)]


FILTER_PROGRESS = CFUNCTYPE(c_int, c_void_p, c_uint64)
FILTER_REASONS_MAX = 32


class Head(Structure):
    C_NAME = "rela_head"
    _fields_ = _fields(c_int32, "layer head")


class FilterOptions(Structure):
    C_NAME = "rela_filter_options"
    INIT = "rela_filter_options_init"
    _fields_ = _SIZE + _fields(c_char_p, "src tgt out_src out_tgt scores") + [
        ("n_threads", c_int32)] + _fields(c_int64, "min_words max_words max_bytes") + [
        ("max_ratio", c_double), ("keep_copies", c_bool), ("max_overlap", c_double),
        ("src_script", c_char_p), ("tgt_script", c_char_p), ("script_share", c_double),
        ("duplicates", c_int32), ("by", c_int32), ("min_score", c_double), ("keep", c_double),
        ("heads", POINTER(Head)), ("n_heads", c_size_t), ("calibrate", c_int64), ("trusted_src", c_char_p),
        ("trusted_tgt", c_char_p), ("seed", c_uint64), ("progress", FILTER_PROGRESS),
        ("progress_ctx", c_void_p), ("job", c_void_p)]


class FilterReport(Structure):
    C_NAME = "rela_filter_report"
    _fields_ = _SIZE + [("read", c_uint64), ("cut", c_double), ("calibrated", c_uint64),
                        ("auc", c_double), ("mean_score", c_double),
                        ("count", c_uint64 * FILTER_REASONS_MAX)]


class ShortlistOptions(Structure):
    C_NAME = "rela_shortlist_options"
    INIT = "rela_shortlist_options_init"
    _fields_ = _SIZE + _fields(c_char_p, "src tgt links") + _fields(c_int32, "layer head") + [
        ("shift", c_bool), ("threshold", c_double), ("frequent", c_int64), ("best", c_int64), ("out", c_char_p),
        ("progress", FILTER_PROGRESS), ("progress_ctx", c_void_p)]


class ShortlistReport(Structure):
    C_NAME = "rela_shortlist_report"
    _fields_ = _SIZE + _fields(c_uint64, "lines empty too_long links frequent words")


NOTICE = CFUNCTYPE(None, c_void_p, c_char_p)


class AverageOptions(Structure):
    C_NAME = "rela_model_average_options"
    INIT = "rela_model_average_options_init"
    _fields_ = _SIZE + _fields(c_int32, "last n_threads") + [("notice", NOTICE), ("notice_ctx", c_void_p)]


class ConvertOptions(Structure):
    C_NAME = "rela_model_convert_options"
    INIT = "rela_model_convert_options_init"
    _fields_ = _SIZE + [("from", c_int32), ("to", c_int32), ("n_threads", c_int32), ("notice", NOTICE),
                        ("notice_ctx", c_void_p)]


class WordStats(Structure):
    C_NAME = "rela_word_stats"
    _fields_ = _SIZE + _fields(
        c_uint64, "n_lines n_words n_types n_bad bad_line n_long longest longest_line") + [
        ("bad_encoding", c_char_p)]


class LinkFormat(Structure):
    C_NAME = "rela_link_format"
    INIT = "rela_link_format_init"
    _fields_ = _SIZE + [("base", c_int32)] + _fields(c_bool, "reverse check") + _fields(c_size_t, "n_src n_tgt")


class Links(Structure):
    C_NAME = "rela_links"
    _fields_ = [("items", c_void_p)] + _fields(c_size_t, "n cap")


AER_STATS = 5


class AerFigures(Structure):
    C_NAME = "rela_aer_figures"
    _fields_ = _SIZE + _fields(c_double, "aer precision recall f1") + _fields(c_uint64, "n_links n_sure n_gold")


class Scored(Structure):
    C_NAME = "rela_scored"
    _fields_ = [("stats", c_void_p)] + _fields(c_size_t, "n k") + _fields(c_void_p, "score ctx")


class Resampling(Structure):
    C_NAME = "rela_resampling"
    INIT = "rela_resampling_init"
    _fields_ = _SIZE + [("samples", c_int64), ("seed", c_uint64), ("n_threads", c_int32)]


class Interval(Structure):
    C_NAME = "rela_interval"
    _fields_ = _fields(c_double, "mean low high half")


CORPUS_REASONS_MAX, CORPUS_SHOWN = 32, 5


class CorpusRules(Structure):
    C_NAME = "rela_corpus_rules"
    INIT = "rela_corpus_rules_init"
    _fields_ = _SIZE + [("max_line", c_uint64), ("max_tokens", c_int32), ("cut", c_bool), ("max_ratio", c_double)
                        ] + _fields(c_bool, "drop_identical any_expansion")


class CorpusReport(Structure):
    C_NAME = "rela_corpus_report"
    _fields_ = _SIZE + _fields(c_uint64, "read kept marks returns nuls cut") + [
        ("dropped", c_uint64 * CORPUS_REASONS_MAX), ("first", c_uint64 * CORPUS_SHOWN * CORPUS_REASONS_MAX)]


class CorpusCheckOptions(Structure):
    C_NAME = "rela_corpus_check_options"
    INIT = "rela_corpus_check_options_init"
    _fields_ = _SIZE + _fields(c_char_p, "src tgt") + [("rules", POINTER(CorpusRules)), ("n_threads", c_int32),
        ("batch_tokens", c_int64), ("seed", c_uint64), ("memory", c_uint64), ("scratch_dir", c_char_p),
        ("progress", PROGRESS), ("progress_ctx", c_void_p)]


class CorpusLengths(Structure):
    C_NAME = "rela_corpus_lengths"
    _fields_ = [("tokens", c_uint64)] + _fields(c_uint32, "shortest median p95 p99 longest") + [("mean", c_double)]


class CorpusStats(Structure):
    C_NAME = "rela_corpus_stats"
    _fields_ = _SIZE + [("side", CorpusLengths * 2), ("batch_tokens", c_uint64), ("batches", c_uint64),
                        ("padding", c_double)]


ALL = [s for s in list(globals().values()) if isinstance(s, type) and issubclass(s, Structure)
       and hasattr(s, "C_NAME")]
