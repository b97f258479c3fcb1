# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX by (domain, name): which are lowered, which are harmless, which are refused.

An operator is harmless if it multiplies no matrices: a workload leaves it out. An operator that is in no list is refused.
"""

from __future__ import annotations

ONNX, ML, TRAINING, PREVIEW = "", "ai.onnx.ml", "ai.onnx.preview.training", "ai.onnx.preview"
MICROSOFT = "com.microsoft"

Operator = tuple[str, str]


def _of(domain: str, names: str) -> frozenset[Operator]:
    return frozenset((domain, name) for name in names.split())


#: Operators that onnx_graph.py turns into products.
CONVOLUTIONS = _of(ONNX, "Conv ConvInteger QLinearConv") | _of(MICROSOFT, "FusedConv")
PRODUCTS = _of(ONNX, "Gemm MatMul MatMulInteger QLinearMatMul") | _of(
    MICROSOFT,
    "DynamicQuantizeMatMul FusedGemm FusedMatMul GemmFastGelu MatMulBnb4 MatMulInteger16 MatMulIntegerToFloat"
    " MatMulNBits QGemm TransposeMatMul",
)
ATTENTION = _of(ONNX, "Attention") | _of(MICROSOFT, "GroupQueryAttention MultiHeadAttention")
#: Operators with bodies, which are walked.
CONTROL = _of(ONNX, "If Loop Scan SequenceMap")
LOWERED = CONVOLUTIONS | PRODUCTS | ATTENTION | CONTROL

#: Harmless operators by kind.
HARMLESS: dict[str, frozenset[Operator]] = {
    "element by element": _of(
        ONNX,
        "Abs Acos Acosh Add And Asin Asinh Atan Atanh BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast"
        " CastLike Ceil Celu Clip Cos Cosh Div Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual HardSigmoid"
        " HardSwish IsInf IsNaN LeakyRelu Less LessOrEqual Log Max Mean Min Mish Mod Mul Neg Not Or PRelu Pow"
        " Reciprocal Relu RotaryEmbedding Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Sum"
        " SwiGLU Swish Tan Tanh ThresholdedRelu Where Xor",
    )
    | _of(TRAINING, "Adagrad Adam Momentum")
    | _of(
        MICROSOFT,
        "BiasAdd BiasDropout BiasGelu BiasSplitGelu FastGelu Gelu QLinearAdd QLinearLeakyRelu QLinearMul QLinearSigmoid"
        " QuickGelu RotaryEmbedding",
    ),
    "quantization": _of(ONNX, "DequantizeLinear DynamicQuantizeLinear QuantizeLinear")
    | _of(MICROSOFT, "DequantizeLinear QuantizeLinear"),
    "normalization and softmax": _of(
        ONNX,
        "BatchNormalization GroupNormalization Hardmax InstanceNormalization LRN LayerNormalization LogSoftmax"
        " LpNormalization MeanVarianceNormalization RMSNormalization SimplifiedLayerNormalization Softmax",
    )
    | _of(ML, "Normalizer Scaler")
    | _of(MICROSOFT, "BiasSoftmax QLinearSoftmax SkipLayerNormalization SkipSimplifiedLayerNormalization"),
    "reduction, search and pooling": _of(
        ONNX,
        "ArgMax ArgMin AveragePool CumProd CumSum GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxRoiPool"
        " MaxUnpool NegativeLogLikelihoodLoss NonMaxSuppression NonZero ReduceL1 ReduceL2 ReduceLogSum"
        " ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"
        " SoftmaxCrossEntropyLoss TopK Unique",
    ),
    "movement of data": _of(
        ONNX,
        "CenterCropPad Col2Im Compress Concat DepthToSpace Dropout Expand Flatten Gather GatherElements GatherND"
        " Identity OneHot Pad Reshape ReverseSequence Scatter ScatterElements ScatterND Shape Size Slice SpaceToDepth"
        " Split Squeeze TensorScatter Tile Transpose Trilu Unsqueeze",
    )
    | _of(ML, "ArrayFeatureExtractor FeatureVectorizer")
    | _of(MICROSOFT, "GatherBlockQuantized Trilu"),
    "interpolation": _of(ONNX, "GridSample Resize RoiAlign Upsample"),
    "constants, ranges and random numbers": _of(
        ONNX,
        "Bernoulli BlackmanWindow Constant ConstantOfShape EyeLike HammingWindow HannWindow MelWeightMatrix Multinomial"
        " RandomNormal RandomNormalLike RandomUniform RandomUniformLike Range",
    ),
    "sequences and optional values": _of(
        ONNX,
        "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty"
        " SequenceErase SequenceInsert SequenceLength SplitToSequence",
    )
    | _of(ML, "ZipMap"),
    "text, tables and trees": _of(
        ONNX, "RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer"
    )
    | _of(
        ML,
        "Binarizer CastMap CategoryMapper DictVectorizer Imputer LabelEncoder OneHotEncoder TreeEnsemble"
        " TreeEnsembleClassifier TreeEnsembleRegressor",
    ),
}  # fmt: skip
ALL_HARMLESS: frozenset[Operator] = frozenset().union(*HARMLESS.values())

#: Operators that are known to multiply, and are not lowered.
REFUSED = (
    _of(
        ONNX,
        "AffineGrid CausalConvWithState ConvTranspose DFT DeformConv Det Einsum GRU ImageDecoder LSTM LinearAttention"
        " RNN STFT",
    )
    | _of(ML, "LinearClassifier LinearRegressor SVMClassifier SVMRegressor")
    | _of(TRAINING, "Gradient")
    | _of(PREVIEW, "FlexAttention")
)

#: Operators whose results differ from run to run: they are no constants, whatever their inputs are.
RANDOM = _of(ONNX, "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike")


def qualified(operator: Operator) -> str:
    """MatMul, or com.microsoft.MatMulNBits."""
    return ".".join(part for part in operator if part)
