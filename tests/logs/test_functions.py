"""C++ function names as gcc, clang and symbolisers write them."""

from __future__ import annotations

import pytest

from triage.logs.functions import function_name, template_bindings

NAMES = [
    # (what the compiler wrote, the function)
    (
        "virtual LogicalResult (anonymous namespace)::ReduceOpConversion::matchAndRewrite("
        "triton::ReduceOp, OpAdaptor, ConversionPatternRewriter &) const",
        "ReduceOpConversion::matchAndRewrite",
    ),
    (
        "virtual mlir::LogicalResult {anonymous}::ReduceOpConversion::matchAndRewrite(mlir::triton::ReduceOp, "
        "mlir::ConvertOpToLLVMPattern<mlir::triton::ReduceOp>::OpAdaptor, mlir::ConversionPatternRewriter&) const",
        "ReduceOpConversion::matchAndRewrite",
    ),
    (
        "const T& llvm::ArrayRef<T>::operator[](size_t) const [with T = unsigned int; size_t = long unsigned int]",
        "ArrayRef::operator[]",
    ),
    (
        "const T &llvm::ArrayRef<unsigned int>::operator[](size_t) const [T = unsigned int]",
        "ArrayRef::operator[]",
    ),
    (
        "void mlir::processProducerCommitOp(OpBuilder &, ttnvws::ProducerCommitOp, Value, "
        "ttnvws::TokenLoadType, unsigned int)",
        "processProducerCommitOp",
    ),
    (
        "static FailureOr<MMASMEMDescriptor> mlir::triton::NVIDIA::DotOpMmaSmemLoader::getDescriptor("
        "Location, const LinearLayout &, ArrayRef<unsigned int>, int, unsigned int, int)",
        "DotOpMmaSmemLoader::getDescriptor",
    ),
    ("Value mlir::triton::NVIDIA::convertLayout(int)", "convertLayout"),
    (
        "virtual void mlir::triton::gpu::(anonymous namespace)::OptimizeThreadLocalityPass::runOnOperation()",
        "OptimizeThreadLocalityPass::runOnOperation",
    ),
    (
        "decltype(auto) llvm::cast(const From &) [To = mlir::TypedValue<mlir::FloatType>, From = mlir::Value]",
        "cast",
    ),
    ("auto convert(int)::(anonymous class)::operator()(int) const", "convert"),
    ("mlir::a::bar(int, std::function<void(int)>)::<lambda(auto:1)> [with auto:1 = int]", "bar"),
    ("foo(int)::'lambda'(int)::operator()(int) const", "foo"),
    ("foo(int)::$_0::operator()(int) const", "foo"),
    ("reference std::vector<int, std::allocator<int>>::operator[](size_type)", "vector::operator[]"),
    ("mlir::Value::operator bool() const", "Value::operator bool"),
    ("bool operator<(const A &, const B &)", "operator<"),
    ("auto f(int) -> std::vector<int>", "f"),
    ("LayoutPropagation::getValueAs", "LayoutPropagation::getValueAs"),
    ("llvm::cast<mlir::FloatAttr>", "cast"),
]


@pytest.mark.parametrize(("pretty", "name"), NAMES)
def test_a_function_is_named_without_what_changes(pretty: str, name: str) -> None:
    assert function_name(pretty) == name


@pytest.mark.parametrize("pretty", ["", "   ", "()", "<>", "::"])
def test_nothing_has_no_name(pretty: str) -> None:
    assert function_name(pretty) is None


@pytest.mark.parametrize(
    "pretty",
    [
        "decltype(auto) llvm::cast(const From&) [with To = mlir::IntegerType; From = mlir::Value]",
        "decltype(auto) llvm::cast(const From &) [To = mlir::IntegerType, From = mlir::Value]",
    ],
)
def test_template_bindings_in_both_spellings(pretty: str) -> None:
    assert template_bindings(pretty) == {"To": "mlir::IntegerType", "From": "mlir::Value"}
