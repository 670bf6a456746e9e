# SPDX-License-Identifier: MIT
"""The module inside PyTorch's own layers, and as users of nn.MultiheadAttention call it."""
import copy
import io
import os
import pickle
import re
import unittest
import warnings
from pathlib import Path

import torch
from torch import nn

import rela
from rela.torch import RectifiedLinearAttention

torch.set_num_threads(1)  # rows are small: threads would only wait

SOURCE = Path(os.environ["RELA_SOURCE"])
D, HEADS, FFN = 16, 2, 24
LENGTHS = [6, 4, 1]
HIDDEN = torch.arange(6)[None] >= torch.tensor(LENGTHS)[:, None]
VISIBLE = ~HIDDEN[..., None]
CLOSE = dict(rtol=1e-5, atol=1e-6)


def make(**settings):
    """A module whose gain and gate are not those it starts with."""
    layer = RectifiedLinearAttention(D, HEADS, **settings)
    for p in (layer.gain, layer.gate):
        if p is not None:
            nn.init.uniform_(p, 0.5, 1.5)
    return layer


def encoder_layer(batch_first=True, kind="rela-g", **settings):
    layer = nn.TransformerEncoderLayer(D, HEADS, FFN, batch_first=batch_first, **settings)
    layer.self_attn = make(batch_first=batch_first, kind=kind)
    return layer


def encode(layer, x, **masks):
    """The formula of an encoder layer without dropout, in plain calls."""
    attend = lambda x: layer.self_attn(x, x, x, need_weights=False, **masks)[0]
    feed = lambda x: layer.linear2(layer.activation(layer.linear1(x)))
    if layer.norm_first:
        x = x + attend(layer.norm1(x))
        return x + feed(layer.norm2(x))
    x = layer.norm1(x + attend(x))
    return layer.norm2(x + feed(x))


def causal_mask(n):
    return torch.full((n, n), -torch.inf).triu(1)


class InEncoders(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(11)
        self.x = torch.randn(3, 6, D)

    def compare(self, got, want, visible=None):
        if visible is not None:
            got, want = got * visible, want * visible
        torch.testing.assert_close(got, want, **CLOSE)

    def test_a_layer_in_eval_mode_is_its_formula(self):
        for batch_first in (True, False):
            x = self.x if batch_first else self.x.transpose(0, 1)
            for settings in ({}, {"norm_first": True}, {"activation": "gelu"}):
                layer = encoder_layer(batch_first, **settings).eval()
                with torch.no_grad():
                    for mask in ({}, {"src_key_padding_mask": HIDDEN}, {"src_mask": causal_mask(6)}):
                        names = {"src_key_padding_mask": "key_padding_mask", "src_mask": "attn_mask"}
                        want = encode(layer, x, **{names[k]: v for k, v in mask.items()})
                        self.compare(layer(x, **mask), want)
                    both = dict(src_mask=causal_mask(6), src_key_padding_mask=HIDDEN)
                    want = encode(layer, x, attn_mask=causal_mask(6), key_padding_mask=HIDDEN)
                    self.compare(layer(x, **both), want)
                with torch.inference_mode():
                    self.compare(layer(x), encode(layer, x))
                self.compare(layer(x), encode(layer, x))  # with gradients on

    def test_the_modes_differ_by_dropout_alone(self):
        layer = encoder_layer(dropout=0.0)
        trained = layer.train()(self.x)
        with torch.no_grad():
            self.compare(layer.eval()(self.x), trained)

    def test_it_is_not_softmax(self):
        """The shared parameters alone, as PyTorch's own path would use them, give something else."""
        layer = encoder_layer().eval()
        other = nn.TransformerEncoderLayer(D, HEADS, FFN, batch_first=True).eval()
        other.load_state_dict({k: v for k, v in layer.state_dict().items()
                               if k not in ("self_attn.gain", "self_attn.gate")})
        with torch.no_grad():
            self.assertGreater((layer(self.x) - other(self.x)).abs().max().item(), 0.05)

    def test_an_encoder_is_its_layers(self):
        for norm_first in (False, True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # newer versions: nested tensors are not used
                encoder = nn.TransformerEncoder(encoder_layer(norm_first=norm_first), 2,
                                                norm=nn.LayerNorm(D)).eval()
            self.check_encoder(encoder)

    def test_an_encoder_whose_attention_is_replaced_is_its_layers(self):
        """Some versions decide when the encoder is made, and then pass nested tensors."""
        encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, HEADS, FFN, batch_first=True), 2,
                                        norm=nn.LayerNorm(D)).eval()
        for layer in encoder.layers:
            layer.self_attn = make(batch_first=True)
        self.check_encoder(encoder.eval())

    def check_encoder(self, encoder):
        def by_hand(**masks):
            x = self.x
            for layer in encoder.layers:
                x = encode(layer, x, **masks)
            return encoder.norm(x)

        with torch.no_grad():
            self.compare(encoder(self.x), by_hand())
            self.compare(encoder(self.x, src_key_padding_mask=HIDDEN),
                         by_hand(key_padding_mask=HIDDEN), VISIBLE)
            self.compare(encoder(self.x, mask=causal_mask(6)), by_hand(attn_mask=causal_mask(6)))

    def test_nested_tensors_are_their_sequences(self):
        layer = make(batch_first=True).eval()
        parts = [x[:n] for x, n in zip(self.x, LENGTHS)]
        memory = [torch.randn(n, D) for n in (2, 5, 3)]
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nested tensors are a prototype
            nested, keys = torch.nested.nested_tensor(parts), torch.nested.nested_tensor(memory)
            y, weights = layer(nested, nested, nested)
            self.assertTrue(y.is_nested)
            for i, part in enumerate(parts):
                want, shown = layer(part, part, part)
                self.compare(y.unbind()[i], want)
                n = len(part)
                self.compare(weights[i, :n, :n], shown)
                self.assertEqual(weights[i].count_nonzero(), shown.count_nonzero())
            y = layer(nested, keys, keys, need_weights=False)[0]
            for got, part, seen in zip(y.unbind(), parts, memory):
                self.compare(got, layer(part, seen, seen)[0])
            self.compare(layer(nested, nested, nested, is_causal=True)[0].unbind()[0],
                         layer(parts[0], parts[0], parts[0], is_causal=True)[0])
            self.check_nested_layer(nested, parts)
            with self.assertRaisesRegex(ValueError, "nested"):
                layer(nested, self.x, self.x)
            with self.assertRaisesRegex(ValueError, "nested.*key_padding_mask"):
                layer(nested, nested, nested, key_padding_mask=HIDDEN)
            with self.assertRaisesRegex(ValueError, "batch_first"):
                make(batch_first=False)(nested, nested, nested)

    def check_nested_layer(self, nested, parts):
        layer = encoder_layer().eval()
        if torch.__version__.startswith("1."):  # has no LayerNorm of nested tensors but its own path
            with self.assertRaisesRegex(NotImplementedError, "layer_norm"):
                layer(nested)
            return
        for got, part in zip(layer(nested).unbind(), parts):
            self.compare(got, encode(layer, part[None])[0])

    def test_training_through_an_encoder_reaches_every_parameter(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            encoder = nn.TransformerEncoder(encoder_layer(), 2)
        encoder(self.x, src_key_padding_mask=HIDDEN).square().sum().backward()
        for name, p in encoder.named_parameters():
            self.assertTrue(p.grad is not None and p.grad.count_nonzero() > 0, name)


class InDecoders(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(12)
        self.x, self.memory = torch.randn(3, 5, D), torch.randn(3, 6, D)

    def test_a_decoder_layer_is_its_formula(self):
        for norm_first in (False, True):
            layer = nn.TransformerDecoderLayer(D, HEADS, FFN, batch_first=True,
                                               norm_first=norm_first)
            layer.self_attn, layer.multihead_attn = make(batch_first=True), make(batch_first=True)
            layer.eval()
            want = self.decode(layer, self.x)
            with torch.no_grad():
                got = layer(self.x, self.memory, tgt_mask=causal_mask(5),
                            memory_key_padding_mask=HIDDEN)
                torch.testing.assert_close(got, want, **CLOSE)
                decoder = nn.TransformerDecoder(layer, 2).eval()
                got = decoder(self.x, self.memory, tgt_mask=causal_mask(5),
                              memory_key_padding_mask=HIDDEN)
                torch.testing.assert_close(got, self.decode(layer, want), **CLOSE)

    def decode(self, layer, x):
        own = lambda x: layer.self_attn(x, x, x, attn_mask=causal_mask(5))[0]
        other = lambda x: layer.multihead_attn(x, self.memory, self.memory,
                                               key_padding_mask=HIDDEN)[0]
        feed = lambda x: layer.linear2(layer.activation(layer.linear1(x)))
        if layer.norm_first:
            x = x + own(layer.norm1(x))
            x = x + other(layer.norm2(x))
            return x + feed(layer.norm3(x))
        x = layer.norm1(x + own(x))
        x = layer.norm2(x + other(x))
        return layer.norm3(x + feed(x))

    def test_the_whole_transformer_runs(self):
        model = nn.Transformer(D, HEADS, 1, 1, FFN, batch_first=True)
        for layer in model.encoder.layers:
            layer.self_attn = make(batch_first=True)
        for layer in model.decoder.layers:
            layer.self_attn, layer.multihead_attn = make(batch_first=True), make(batch_first=True)
        model.eval()
        with torch.no_grad():
            masks = dict(tgt_mask=causal_mask(5), src_key_padding_mask=HIDDEN,
                         memory_key_padding_mask=HIDDEN)
            a = model(self.memory, self.x, **masks)
            changed = self.memory.masked_fill(HIDDEN[..., None], 7.0)
            b = model(changed, self.x, **masks)
        self.assertTrue(torch.isfinite(a).all())
        torch.testing.assert_close(a, b, **CLOSE)  # hidden rows do not matter


class AsMultiheadAttention(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(13)
        self.x, self.memory = torch.randn(3, 5, D), torch.randn(3, 6, D)

    def test_arguments_stand_in_the_same_order(self):
        positions = [D, HEADS, 0.0, False, False, False, 8, 6, True, "cpu", torch.float32]
        ours = RectifiedLinearAttention(*positions, kind="softmax")
        theirs = nn.MultiheadAttention(*positions)
        theirs.load_state_dict(ours.state_dict())
        for name in ("embed_dim", "num_heads", "head_dim", "kdim", "vdim", "batch_first", "dropout",
                     "bias_k", "bias_v", "add_zero_attn", "in_proj_weight", "in_proj_bias"):
            self.assertEqual(getattr(ours, name), getattr(theirs, name), name)

    def test_masks_may_be_given_in_every_form(self):
        ours = RectifiedLinearAttention(D, HEADS, kind="softmax", batch_first=True).eval()
        theirs = nn.MultiheadAttention(D, HEADS, batch_first=True).eval()
        theirs.load_state_dict(ours.state_dict())
        m, hidden = self.memory, HIDDEN
        floats = torch.zeros(3, 6).masked_fill(hidden, -torch.inf)
        mask = causal_mask(6)
        for masks in (dict(key_padding_mask=hidden), dict(key_padding_mask=floats),
                      dict(attn_mask=mask), dict(attn_mask=mask == -torch.inf),
                      dict(attn_mask=mask.expand(3 * HEADS, 6, 6)),
                      dict(attn_mask=torch.zeros(6, 6)),
                      dict(attn_mask=mask == -torch.inf, key_padding_mask=hidden)):
            for average in (True, False):
                a = ours(m, m, m, average_attn_weights=average, **masks)
                b = theirs(m, m, m, average_attn_weights=average, **masks)
                for x, y in zip(a, b):
                    torch.testing.assert_close(x, y, **CLOSE)
        torch.testing.assert_close(ours(m, m, m, attn_mask=mask, key_padding_mask=floats)[0], a[0])
        self.assertIsNone(ours(m, m, m, need_weights=False)[1])
        self.assertEqual(ours(m[0], m[0], m[0])[1].shape, (6, 6))
        self.assertEqual(ours(m[0], m[0], m[0], average_attn_weights=False)[1].shape, (HEADS, 6, 6))
        one = ours(m[1], m[1], m[1], key_padding_mask=hidden[1])[0]
        torch.testing.assert_close(one, ours(m, m, m, key_padding_mask=hidden)[0][1], **CLOSE)

    def test_other_types_are_converted(self):
        for kind in ("rela-g", "rela-t", "entmax-learned"):
            layer = make(batch_first=True, kind=kind).eval()
            want = layer(self.x, self.memory, self.memory)
            for dtype, limit in ((torch.float64, 1e-5), (torch.bfloat16, 0.3)):
                other = copy.deepcopy(layer).to(dtype)
                m = self.memory.to(dtype)
                got = other(self.x.to(dtype), m, m)
                for a, b in zip(got, want):
                    self.assertEqual(a.dtype, dtype)
                    self.assertLess((a.float() - b).abs().max().item(), limit, kind)
                got[0].sum().backward()
                self.assertTrue(all(p.grad is not None for p in other.parameters()))

    def test_an_empty_batch_gives_an_empty_result(self):
        layer, none = make(batch_first=True), self.x[:0]
        y, weights = layer(none, none, none, key_padding_mask=HIDDEN[:0, :5])
        self.assertEqual((y.shape, weights.shape), ((0, 5, D), (0, 5, 5)))
        y.sum().backward()
        self.assertEqual(layer.gain.grad.count_nonzero(), 0)

    def test_it_is_saved_and_loaded_whole(self):
        layer = make(batch_first=True).eval()
        buffer = io.BytesIO()
        torch.save(layer.state_dict(), buffer)
        buffer.seek(0)
        fresh = RectifiedLinearAttention(D, HEADS, batch_first=True).eval()
        fresh.load_state_dict(torch.load(buffer))
        for other in (fresh, pickle.loads(pickle.dumps(layer)), copy.deepcopy(layer)):
            torch.testing.assert_close(other(self.x, self.x, self.x), layer(self.x, self.x, self.x),
                                       rtol=0, atol=0)

    def test_wrong_use_is_named(self):
        layer = make(batch_first=True)
        x, m, mask = self.x, self.memory, causal_mask(5)
        late = torch.zeros(3, 6, dtype=torch.bool)
        late[:, 0] = True
        for message, arguments, more in [
            ("query has shape \\(3, 5, 7\\); expected .*16", (x[..., :7], m, m), {}),
            ("key has shape \\(3, 6, 7\\); expected .*16", (x, m[..., :7], m), {}),
            ("query has 4 dimensions; expected 2 or 3", (x[None], m, m), {}),
            ("query has 1 dimension; expected 2 or 3", (x[0, 0], m, m), {}),
            ("key has 2 dimensions, but query 3", (x, m[0], m), {}),
            ("batches of query, key and value differ: 2, 3, 3", (x[:2], m, m), {}),
            ("6 keys, but 5 values", (x, m, m[:, :5]), {}),
            ("key_padding_mask has shape \\(3, 5\\); expected \\(3, 6\\)", (x, m, m),
             dict(key_padding_mask=late[:, :5])),
            ("key_padding_mask is torch.int64; expected bool or float", (x, m, m),
             dict(key_padding_mask=late.long())),
            ("attn_mask is not the causal mask", (x, x, x), dict(attn_mask=mask.T, is_causal=True)),
            ("attn_mask has shape \\(5, 5\\); expected \\(5, 6\\)", (x, m, m), dict(attn_mask=mask)),
            ("attn_mask is torch.int64", (x, x, x), dict(attn_mask=torch.ones(5, 5).long())),
            ("no queries or no keys", (x[:, :0], m, m), {}),
        ]:
            with self.assertRaisesRegex(ValueError, message):
                layer(*arguments, **more)
        with self.assertRaisesRegex(ValueError, "on the CPU"):
            layer(*(x.to("meta"),) * 3)
        for message, settings in [
            ("add_bias_kv", dict(add_bias_kv=True)), ("add_zero_attn", dict(add_zero_attn=True)),
            ("embed_dim 16 is not a multiple of num_heads 3", dict(num_heads=3)),
            ("embed_dim is 0", dict(embed_dim=0)), ("device 'meta'", dict(device="meta")),
        ]:
            with self.assertRaisesRegex(ValueError, message):
                RectifiedLinearAttention(**(dict(embed_dim=D, num_heads=HEADS) | settings))
        with self.assertRaisesRegex(TypeError, "unknown option 'add_bias'"):
            RectifiedLinearAttention(D, HEADS, add_bias=True)
        with self.assertRaisesRegex(rela.Error, "dropout is 2"):
            RectifiedLinearAttention(D, HEADS, dropout=2)


class Documentation(unittest.TestCase):
    def test_examples_run(self):
        text = (SOURCE / "docs" / "python.md").read_text()
        blocks = re.findall(r"^```python torch\n(.*?)^```", text, re.M | re.S)
        self.assertGreater(len(blocks), 0)
        for code in blocks:
            exec(compile(code, "docs/python.md", "exec"), {})


if __name__ == "__main__":
    unittest.main()
