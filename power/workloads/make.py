#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the workloads of this folder: python3 power/workloads/make.py. Sizes are those of the papers named in each."""

import json
from pathlib import Path

FOLDER = Path(__file__).parent


def conv(name, inputs, outputs, size, kernel, stride=1, groups=1):
    """A convolution of a square image with padding that keeps its size, but for the stride."""
    layer = {"op": "conv", "name": name, "in_channels": inputs, "out_channels": outputs, "height": size, "width": size}
    layer |= {"kernel": [kernel, kernel], "stride": [stride, stride], "padding": [kernel // 2, kernel // 2]}
    if groups != 1:
        layer["groups"] = groups
    return layer | {"images": "batch"}


def dense(name, inputs, outputs):
    return {"op": "gemm", "name": name, "m": "batch", "n": outputs, "k": inputs}


def write(name, what, source, layers, parameters, tokens=None):
    head = {"name": name, "what": what, "source": source, "parameters": parameters}
    if tokens:
        head["tokens"] = tokens
    text = json.dumps(head, indent=2)[:-2] + ',\n  "layers": [\n    '
    text += ",\n    ".join(json.dumps(layer) for layer in layers) + "\n  ]\n}\n"
    (FOLDER / f"{name}.json").write_text(text)


def resnet(name, blocks, bottleneck):
    layers, inputs, size = [conv("conv1", 3, 64, 224, 7, 2)], 64, 56
    for stage, count in enumerate(blocks):
        width = 64 << stage
        outputs = 4 * width if bottleneck else width
        for block in range(count):
            at, stride = f"layer{stage + 1}.{block}.", 2 if stage and not block else 1
            if bottleneck:
                layers += [
                    conv(at + "conv1", inputs, width, size, 1),
                    conv(at + "conv2", width, width, size, 3, stride),
                ]
                layers += [conv(at + "conv3", width, outputs, size // stride, 1)]
            else:
                layers += [conv(at + "conv1", inputs, width, size, 3, stride)]
                layers += [conv(at + "conv2", width, width, size // stride, 3)]
            if inputs != outputs or stride != 1:
                layers += [conv(at + "downsample", inputs, outputs, size, 1, stride)]
            inputs, size = outputs, size // stride
    what = "image classification, 224 x 224 pixels, 1000 classes"
    source = "He et al., Deep residual learning for image recognition, CVPR 2016"
    if bottleneck:
        source += "; stride in the 3 x 3 convolutions, as torchvision has it"
    write(name, what, source, layers + [dense("fc", inputs, 1000)], {"batch": 1})


def mobilenet_v2():
    layers, inputs, size = [conv("conv1", 3, 32, 224, 3, 2)], 32, 112
    settings = [
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ]
    for stage, (expansion, outputs, count, first_stride) in enumerate(settings):
        for block in range(count):
            at, stride, hidden = f"block{stage + 1}.{block}.", 1 if block else first_stride, inputs * expansion
            if expansion != 1:
                layers += [conv(at + "expand", inputs, hidden, size, 1)]
            layers += [conv(at + "depthwise", hidden, hidden, size, 3, stride, groups=hidden)]
            size //= stride
            layers += [conv(at + "project", hidden, outputs, size, 1)]
            inputs = outputs
    layers += [conv("conv2", 320, 1280, 7, 1), dense("fc", 1280, 1000)]
    what = "image classification, 224 x 224 pixels, 1000 classes; depthwise convolutions are a product a channel"
    write("mobilenet_v2", what, "Sandler et al., MobileNetV2, CVPR 2018, table 2", layers, {"batch": 1})


def vgg16():
    layers, inputs, size = [], 3, 224
    for stage, (outputs, count) in enumerate([(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)]):
        for i in range(count):
            layers += [conv(f"conv{stage + 1}_{i + 1}", inputs, outputs, size, 3)]
            inputs = outputs
        size //= 2
    layers += [dense("fc6", 512 * 7 * 7, 4096), dense("fc7", 4096, 4096), dense("fc8", 4096, 1000)]
    source = "Simonyan, Zisserman, Very deep convolutional networks, ICLR 2015, configuration D"
    write("vgg16", "image classification, 224 x 224 pixels, 1000 classes", source, layers, {"batch": 1})


def llama_block():
    """One of 32 blocks of 7B; the causal mask is not made use of."""
    width, heads, hidden = 4096, 32, 11008
    linear = {"op": "gemm", "m": "seq"}
    layers = [linear | {"name": "qkv", "n": width, "k": width, "count": 3}]
    layers += [
        {"op": "gemm", "name": "scores", "m": "seq", "n": "seq", "k": width // heads, "batch": heads, "weights": False}
    ]
    layers += [
        {
            "op": "gemm",
            "name": "attention",
            "m": "seq",
            "n": width // heads,
            "k": "seq",
            "batch": heads,
            "weights": False,
        }
    ]
    layers += [linear | {"name": "out", "n": width, "k": width}]
    layers += [linear | {"name": "gate_up", "n": hidden, "k": width, "count": 2}]
    layers += [linear | {"name": "down", "n": width, "k": hidden}]
    what = "one of the 32 blocks of a 7B model, prefill of seq tokens (seq = 1 is not decoding: there is no cache)"
    write("llama_block", what, "Touvron et al., LLaMA, 2023, table 2", layers, {"seq": 512}, "seq")


def decoding(kv_heads, group, head_width, width, hidden):
    """A block for one token of each of batch sequences. Keys and values of context tokens are in a cache, of which 2:4
    and the codec know nothing; `group` heads share those of one of the kv_heads."""
    linear = {"op": "gemm", "m": "batch"}
    cache = {"op": "gemm", "m": group, "batch": kv_heads, "count": "batch", "weights": False, "cache": "read"}
    made = [kv_heads, head_width] if isinstance(kv_heads, str) else kv_heads * head_width
    return [
        linear | {"name": "q", "n": width, "k": width},
        linear | {"name": "kv", "n": made, "k": width, "count": 2, "cache": "write"},
        cache | {"name": "scores", "n": "context", "k": head_width},
        cache | {"name": "attention", "n": head_width, "k": "context"},
        linear | {"name": "out", "n": width, "k": width},
        linear | {"name": "gate_up", "n": hidden, "k": width, "count": 2},
        linear | {"name": "down", "n": width, "k": hidden},
    ]


def llama_decode():
    what = "one of the 32 blocks of a 7B model, decoding: a token of each of batch sequences, a cache of context tokens"
    source = "Touvron et al., LLaMA, 2023, table 2"
    write("llama_decode", what, source, decoding(32, 1, 128, 4096, 11008), {"batch": 1, "context": 2048}, "batch")


def decoder():
    width = ["kv_heads", "group", "head_width"]
    what = "a block of any decoder, decoding; group heads share one of kv_heads keys and values; unset, a 7B Llama's"
    sizes = {"batch": 1, "context": 2048, "kv_heads": 32, "group": 1, "head_width": 128, "hidden": 11008}
    layers = decoding("kv_heads", "group", "head_width", width, "hidden")
    write(
        "decoder", what, "Touvron et al., LLaMA, 2023, table 2, for the sizes that are not set", layers, sizes, "batch"
    )


def vit_block():
    width, heads, hidden = 768, 12, 3072
    linear = {"op": "gemm", "m": ["images", "patches"]}
    product = {"op": "gemm", "m": "patches", "batch": heads, "count": "images", "weights": False}
    layers = [
        linear | {"name": "qkv", "n": width, "k": width, "count": 3},
        product | {"name": "scores", "n": "patches", "k": width // heads},
        product | {"name": "attention", "n": width // heads, "k": "patches"},
        linear | {"name": "out", "n": width, "k": width},
        linear | {"name": "up", "n": hidden, "k": width},
        linear | {"name": "down", "n": width, "k": hidden},
    ]
    what = "one of the 12 blocks of ViT-B/16: patches of an image of 224 x 224 pixels, and one for the class"
    sizes = {"images": 1, "patches": 197}
    write("vit_block", what, "Dosovitskiy et al., ICLR 2021, table 1", layers, sizes)


def digits():
    layers = [conv("conv1", 1, 32, 8, 5, 2), conv("conv2", 32, 32, 4, 3), dense("fc", 512, 10)]
    write("digits", "the network of examples/digits", "examples/digits/network.py", layers, {"batch": 1})


def main():
    resnet("resnet18", (2, 2, 2, 2), bottleneck=False)
    resnet("resnet50", (3, 4, 6, 3), bottleneck=True)
    mobilenet_v2()
    vgg16()
    llama_block()
    llama_decode()
    decoder()
    vit_block()
    digits()


if __name__ == "__main__":
    main()
