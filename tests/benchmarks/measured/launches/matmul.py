"""Launches of ``kernels/matmul.py``."""

from measured.launches.launch import WARPS, Launch, array, zeros

MULTIPROCESSORS = 132
"""Of an H100 and an H200, for persistent kernels."""
TILES = ("cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)",)
TILES_MN = ("cdiv(M, BLOCK_M)", "cdiv(N, BLOCK_N)")
PERSISTENT = ("min(PROGRAMS, cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N))",)
FLOPS = "2 * M * N * K"
MATMUL: dict[str, tuple[int | bool, ...]] = {
    "BLOCK_M": (32, 64, 128, 256),
    "BLOCK_N": (32, 64, 128, 256),
    "BLOCK_K": (32, 64, 128),
    "num_warps": (4, 8),
    "num_stages": (1, 2, 3, 4, 5),
}
FEW_ROWS = {**MATMUL, "BLOCK_M": (16, 32, 64), "BLOCK_K": (32, 64, 128), "num_warps": (2, 4, 8)}

LAUNCHES: tuple[Launch, ...] = (
    Launch(
        file="matmul.py",
        name="grouped_matmul_fp16",
        arguments={
            "a_ptr": array("fp16", "M", "K"), "b_ptr": array("fp16", "K", "N"), "c_ptr": zeros("fp16", "M", "N"),
            "M": 4096, "N": 4096, "K": 4096, "stride_am": "K", "stride_bk": "N", "stride_cm": "N",
        },
        grid=TILES, outputs=("c_ptr",), fixed={"GROUP_M": 8}, space=MATMUL, flops=FLOPS, sample=480,
    ),
    Launch(
        file="matmul.py",
        name="linear_gelu_bf16",
        arguments={
            "x_ptr": array("bf16", "M", "K"), "w_ptr": array("bf16", "N", "K"), "bias_ptr": array("bf16", "N"),
            "residual_ptr": array("bf16", "M", "N"), "y_ptr": zeros("bf16", "M", "N"), "M": 4096, "N": 4096, "K": 2048,
        },
        grid=("cdiv(N, BLOCK_N)", "cdiv(M, BLOCK_M)"), outputs=("y_ptr",), space=MATMUL, flops=FLOPS, sample=480,
    ),
    Launch(
        file="matmul.py",
        name="weight_gradient_bf16",
        arguments={
            "x_ptr": array("bf16", "K", "M"), "dy_ptr": array("bf16", "K", "N"), "dw_ptr": zeros("fp32", "M", "N"),
            "M": 4096, "N": 2048, "K": 4096,
        },
        grid=TILES, outputs=("dw_ptr",), space=MATMUL, flops=FLOPS, sample=160,
    ),
    Launch(
        file="matmul.py",
        name="matmul_fp8_rowwise",
        arguments={
            "a_ptr": array("fp8e4nv", "M", "K"), "b_ptr": array("fp8e4nv", "N", "K"),
            "a_scale_ptr": array("fp32", "M"), "b_scale_ptr": array("fp32", "N"), "c_ptr": zeros("bf16", "M", "N"),
            "M": 4096, "N": 4096, "K": 4096,
        },
        grid=TILES, outputs=("c_ptr",), space={**MATMUL, "BLOCK_K": (32, 64, 128, 256)}, flops=FLOPS, sample=160,
    ),
    Launch(
        file="matmul.py",
        name="matmul_fp8_blockwise",
        arguments={
            "a_ptr": array("fp8e4nv", "M", "K"), "b_ptr": array("fp8e4nv", "N", "K"),
            "a_scale_ptr": array("fp32", "M", "K // 128"), "b_scale_ptr": array("fp32", "N // 128", "K // 128"),
            "c_ptr": zeros("bf16", "M", "N"), "M": 2048, "N": 4096, "K": 4096,
        },
        grid=TILES_MN, outputs=("c_ptr",), space=MATMUL, flops=FLOPS,
    ),
    Launch(
        file="matmul.py",
        name="matmul_tf32",
        arguments={
            "a_ptr": array("fp32", "M", "K"), "b_ptr": array("fp32", "N", "K"), "c_ptr": zeros("fp32", "M", "N"),
            "M": 2048, "N": 4096, "K": 2048,
        },
        grid=TILES_MN, outputs=("c_ptr",), space={**MATMUL, "BLOCK_K": (16, 32, 64)}, flops=FLOPS,
    ),
    Launch(
        file="matmul.py",
        name="matmul_int8_scaled",
        arguments={
            "a_ptr": array("i8", "M", "K", low=-8, high=8), "b_ptr": array("i8", "N", "K", low=-8, high=8),
            "a_scale_ptr": array("fp32", "M", fill="uniform", high=0.01), "b_scale_ptr": array("fp32", "N"),
            "c_ptr": zeros("fp16", "M", "N"), "M": 4096, "N": 4096, "K": 4096,
        },
        grid=TILES, outputs=("c_ptr",), fixed={"GROUP_M": 4}, space={**MATMUL, "BLOCK_K": (64, 128, 256)}, flops=FLOPS,
    ),
    Launch(
        file="matmul.py",
        name="split_k_matmul",
        arguments={
            "a_ptr": array("fp16", "M", "K"), "b_ptr": array("fp16", "K", "N"), "c_ptr": zeros("fp32", "M", "N"),
            "M": 64, "N": 4096, "K": 16384,
        },
        grid=(*TILES, "SPLIT_K"), outputs=("c_ptr",), accumulates=True, tolerance=0.002,
        space={**FEW_ROWS, "BLOCK_N": (32, 64, 128), "SPLIT_K": (1, 2, 4, 8, 16, 32)}, flops=FLOPS, sample=110,
    ),
    Launch(
        file="matmul.py",
        name="batched_matmul_bf16",
        arguments={
            "a_ptr": array("bf16", "B", "M", "K"), "b_ptr": array("bf16", "B", "K", "N"),
            "c_ptr": zeros("bf16", "B", "M", "N"), "M": 1024, "N": 512, "K": 512,
            "stride_ab": "M * K", "stride_bb": "K * N", "stride_cb": "M * N",
        },
        sizes={"B": 64}, grid=(*TILES_MN, "B"), outputs=("c_ptr",), space=MATMUL, flops="2 * B * M * N * K",
    ),
    Launch(
        file="matmul.py",
        name="persistent_matmul_fp16",
        arguments={
            "a_ptr": array("fp16", "M", "K"), "b_ptr": array("fp16", "K", "N"), "c_ptr": zeros("fp16", "M", "N"),
            "M": 4096, "N": 4096, "K": 2048,
        },
        fixed={"PROGRAMS": MULTIPROCESSORS}, grid=PERSISTENT, outputs=("c_ptr",), space=MATMUL, flops=FLOPS,
    ),
    Launch(
        file="matmul.py",
        name="persistent_matmul_tma",
        arguments={
            "a_ptr": array("fp16", "M", "K"), "b_ptr": array("fp16", "N", "K"), "c_ptr": zeros("fp16", "M", "N"),
            "M": 4096, "N": 4096, "K": 2048,
        },
        fixed={"PROGRAMS": MULTIPROCESSORS}, grid=PERSISTENT, outputs=("c_ptr",),
        space={**MATMUL, "BLOCK_M": (64, 128, 256), "BLOCK_N": (64, 128, 256), "FLATTEN": (False, True)},
        flops=FLOPS, sample=120,
    ),
    Launch(
        file="matmul.py",
        name="matmul_tma_fp16",
        arguments={
            "a_ptr": array("fp16", "M", "K"), "b_ptr": array("fp16", "K", "N"), "c_ptr": zeros("fp16", "M", "N"),
            "M": 4096, "N": 2048, "K": 4096,
        },
        grid=TILES_MN, outputs=("c_ptr",), space=MATMUL, flops=FLOPS, sample=340,
    ),
    Launch(
        file="matmul.py",
        name="expert_matmul",
        arguments={
            "x_ptr": array("bf16", "TOKENS", "K"), "w_ptr": array("bf16", "EXPERTS", "N", "K"),
            "row_ptr": array("i32", "ROWS", fill="randint", high="TOKENS"),
            "expert_ptr": array("i32", "ROWS // 256", fill="randint", high="EXPERTS"),
            "y_ptr": zeros("bf16", "ROWS", "N"), "N": 4096, "K": 1024,
        },
        sizes={"TOKENS": 8192, "EXPERTS": 8, "ROWS": 8192}, fixed={"ROWS_OF_EXPERT": 256},
        grid=("cdiv(ROWS, BLOCK_M) * cdiv(N, BLOCK_N)",), outputs=("y_ptr",), space=MATMUL, flops="2 * ROWS * N * K",
    ),
    Launch(
        file="matmul.py",
        name="int4_weight_matmul",
        arguments={
            "x_ptr": array("fp16", "M", "K"), "w_ptr": array("i32", "K // 8", "N", low=-2147483648, high=2147483648),
            "scale_ptr": array("fp16", "K // GROUP", "N"), "y_ptr": zeros("fp16", "M", "N"),
            "M": 128, "N": 8192, "K": 4096,
        },
        fixed={"GROUP": 128}, grid=("cdiv(N, BLOCK_N)", "cdiv(M, BLOCK_M)"), outputs=("y_ptr",),
        space={**FEW_ROWS, "BLOCK_M": (16, 32, 64, 128)}, flops=FLOPS, sample=120,
    ),
    Launch(
        file="matmul.py",
        name="int8_weight_matmul",
        arguments={
            "x_ptr": array("bf16", "M", "K"), "w_ptr": array("i8", "N", "K", low=-127, high=128),
            "scale_ptr": array("fp32", "N"), "y_ptr": zeros("bf16", "M", "N"), "M": 1024, "N": 4096, "K": 4096,
        },
        grid=TILES_MN, outputs=("y_ptr",), space=MATMUL, flops=FLOPS,
    ),
    Launch(
        file="matmul.py",
        name="gated_linear_fp16",
        arguments={
            "x_ptr": array("fp16", "M", "K"), "gate_ptr": array("fp16", "K", "N", fill="uniform", low=-0.1, high=0.1),
            "up_ptr": array("fp16", "K", "N", fill="uniform", low=-0.1, high=0.1), "y_ptr": zeros("fp16", "M", "N"),
            "M": 4096, "N": 4096, "K": 1024,
        },
        grid=TILES_MN, outputs=("y_ptr",), space=MATMUL, flops="4 * M * N * K", sample=120,
    ),
    Launch(
        file="matmul.py",
        name="block_scaled_matmul",
        arguments={
            "a_ptr": array("fp8e4nv", "M", "K"), "b_ptr": array("fp8e4nv", "N", "K"),
            "a_scale_ptr": array("u8", "M", "K // 32", fill="randint", low=122, high=130),
            "b_scale_ptr": array("u8", "N", "K // 32", fill="randint", low=122, high=130),
            "c_ptr": zeros("bf16", "M", "N"), "M": 2048, "N": 2048, "K": 4096,
        },
        grid=TILES_MN, outputs=("c_ptr",), space={**MATMUL, "BLOCK_K": (64, 128), "num_stages": (1, 2, 3, 4)},
        flops=FLOPS, sample=60,
    ),
    Launch(
        file="matmul.py",
        name="matrix_vector_fp16",
        arguments={
            "a_ptr": array("fp16", "M", "N"), "x_ptr": array("fp16", "N"), "y_ptr": zeros("fp16", "M"),
            "M": 16384, "N": 8192,
        },
        grid=("cdiv(M, BLOCK_M)",), outputs=("y_ptr",),
        space={
            "BLOCK_M": (1, 2, 4, 8, 16, 32, 64), "BLOCK_N": (64, 128, 256, 512, 1024, 2048),
            "num_warps": WARPS, "num_stages": (1, 2, 3, 4),
        },
    ),
    Launch(
        file="matmul.py",
        name="nearest_centroid",
        arguments={
            "x_ptr": array("bf16", "POINTS", "D"), "c_ptr": array("bf16", "CENTROIDS", "D"),
            "norm_ptr": array("fp32", "CENTROIDS", fill="uniform", low=100.0, high=156.0),
            "label_ptr": zeros("i32", "POINTS"), "POINTS": 65536, "CENTROIDS": 4096,
        },
        stray=0.001,
        fixed={"D": 128}, grid=("cdiv(POINTS, BLOCK_P)",), outputs=("label_ptr",),
        space={
            "BLOCK_P": (32, 64, 128, 256), "BLOCK_C": (16, 32, 64, 128, 256), "num_warps": (4, 8),
            "num_stages": (1, 2, 3, 4),
        },
        flops="2 * POINTS * CENTROIDS * D",
    ),
    Launch(
        file="matmul.py",
        name="conv2d_nhwc",
        arguments={
            "x_ptr": array("fp16", "IMAGES", "H", "W", "C"), "w_ptr": array("fp16", 3, 3, "C", "F"),
            "y_ptr": zeros("fp16", "IMAGES", "H", "W", "F"),
            "H": 56, "W": 56, "C": 128, "F": 256, "OUT_H": "H", "OUT_W": "W",
        },
        sizes={"IMAGES": 32}, grid=("cdiv(IMAGES * H * W, BLOCK_M)", "cdiv(F, BLOCK_N)"), outputs=("y_ptr",),
        space={**MATMUL, "BLOCK_K": (16, 32, 64, 128)}, flops="2 * IMAGES * H * W * 9 * C * F", sample=140,
    ),
    Launch(
        file="matmul.py",
        name="matmul_fp32_exact",
        arguments={
            "a_ptr": array("fp32", "M", "K"), "b_ptr": array("fp32", "K", "N"), "c_ptr": zeros("fp32", "M", "N"),
            "M": 1024, "N": 2048, "K": 1024,
        },
        grid=TILES_MN, outputs=("c_ptr",), tolerance=0.001,
        space={
            "BLOCK_M": (16, 32, 64, 128), "BLOCK_N": (16, 32, 64, 128), "BLOCK_K": (16, 32, 64),
            "num_warps": (4, 8), "num_stages": (1, 2, 3, 4),
        },
        flops=FLOPS, sample=60,
    ),
    Launch(
        file="matmul.py",
        name="low_rank_linear",
        arguments={
            "x_ptr": array("fp16", "M", "K"), "w_ptr": array("fp16", "N", "K"),
            "down_ptr": array("fp16", "RANK", "K", fill="uniform", low=-0.1, high=0.1),
            "up_ptr": array("fp16", "RANK", "N"), "y_ptr": zeros("fp16", "M", "N"), "M": 4096, "N": 4096, "K": 2048,
        },
        fixed={"RANK": 16}, grid=TILES, outputs=("y_ptr",), space=MATMUL, flops="2 * M * K * (N + RANK)",
    ),
    Launch(
        file="matmul.py",
        name="router_softmax",
        arguments={
            "x_ptr": array("bf16", "M", "K"), "w_ptr": array("bf16", "K", "EXPERTS", fill="uniform", high=0.1),
            "p_ptr": zeros("fp32", "M", "EXPERTS"), "M": 32768, "K": 4096,
        },
        fixed={"EXPERTS": 64}, grid=("cdiv(M, BLOCK_M)",), outputs=("p_ptr",),
        space={
            "BLOCK_M": (16, 32, 64, 128, 256), "BLOCK_K": (32, 64, 128, 256), "num_warps": (2, 4, 8),
            "num_stages": (1, 2, 3, 4, 5),
        },
        flops="2 * M * K * EXPERTS",
    ),
    Launch(
        file="matmul.py",
        name="manhattan_distances",
        arguments={
            "a_ptr": array("fp32", "M", "K"), "b_ptr": array("fp32", "N", "K"), "d_ptr": zeros("fp32", "M", "N"),
            "M": 2048, "N": 2048, "K": 256,
        },
        grid=TILES_MN, outputs=("d_ptr",), tolerance=0.001,
        space={
            "BLOCK_M": (16, 32, 64), "BLOCK_N": (16, 32, 64), "BLOCK_K": (1, 2, 4, 8), "num_warps": (2, 4, 8),
            "num_stages": (1, 3),
        },
        sample=60,
    ),
)  # fmt: skip
