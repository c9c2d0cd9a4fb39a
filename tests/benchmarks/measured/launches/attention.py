"""Launches of ``kernels/attention.py``."""

from measured.launches.launch import WARPS, Launch, array, zeros

LOG2E = 1.4426950408889634
ATTENTION: dict[str, tuple[int | bool, ...]] = {
    "BLOCK_M": (32, 64, 128, 256),
    "BLOCK_N": (16, 32, 64, 128),
    "num_warps": (4, 8),
    "num_stages": (1, 2, 3, 4),
}

LAUNCHES: tuple[Launch, ...] = (
    Launch(
        file="attention.py",
        name="attention_d128",
        arguments={
            **{name: array("fp16", "HEADS", "T", "D") for name in ("q_ptr", "k_ptr", "v_ptr")},
            "o_ptr": zeros("fp16", "HEADS", "T", "D"), "lse_ptr": zeros("fp32", "HEADS", "T"),
            "T": 2048, "scale": LOG2E / 128**0.5,
        },
        sizes={"HEADS": 32}, fixed={"D": 128}, grid=("cdiv(T, BLOCK_M)", "HEADS"), outputs=("o_ptr", "lse_ptr"),
        space=ATTENTION, flops="4 * HEADS * T * T * D", sample=128,
    ),
    Launch(
        file="attention.py",
        name="causal_attention_bf16",
        arguments={
            "q_ptr": array("bf16", "HEADS", "T", "D"),
            **{name: array("bf16", "HEADS // GROUP", "T", "D") for name in ("k_ptr", "v_ptr")},
            "o_ptr": zeros("bf16", "HEADS", "T", "D"), "T": 4096, "scale": LOG2E / 128**0.5,
        },
        sizes={"HEADS": 16}, fixed={"GROUP": 4, "D": 128}, grid=("cdiv(T, BLOCK_M)", "HEADS"), outputs=("o_ptr",),
        space=ATTENTION, tolerance=0.02, flops="2 * HEADS * T * T * D", sample=128,
    ),
    Launch(
        file="attention.py",
        name="attention_padded_d80",
        arguments={
            **{name: array("fp16", "BATCH", "T", "HEADS", "D") for name in ("q_ptr", "k_ptr", "v_ptr")},
            "o_ptr": zeros("fp16", "BATCH", "T", "HEADS", "D"),
            "T": 2048, "HEADS": 16, "stride_t": "HEADS * D", "scale": LOG2E / 80**0.5,
        },
        sizes={"BATCH": 2}, fixed={"D": 80, "BLOCK_D": 128}, grid=("cdiv(T, BLOCK_M)", "BATCH * HEADS"),
        outputs=("o_ptr",), space=ATTENTION, flops="4 * BATCH * HEADS * T * T * D", sample=128,
    ),
    Launch(
        file="attention.py",
        name="decode_attention_gqa",
        arguments={
            "q_ptr": array("bf16", "PAIRS", "GROUP", "D"),
            **{name: array("bf16", "PAIRS", "T", "D") for name in ("k_ptr", "v_ptr")},
            "o_ptr": zeros("bf16", "PAIRS", "GROUP", "D"), "T": 2048, "scale": LOG2E / 128**0.5,
        },
        sizes={"PAIRS": 512}, fixed={"GROUP": 16, "D": 128}, grid=("PAIRS",), outputs=("o_ptr",), tolerance=0.02,
        space={"BLOCK_N": (16, 32, 64, 128, 256), "num_warps": (1, 2, 4, 8), "num_stages": (1, 2, 3, 4, 5, 6)},
        sample=120,
    ),
    Launch(
        file="attention.py",
        name="paged_attention_decode",
        arguments={
            "q_ptr": array("fp16", "SEQUENCES", "HEADS", "D"),
            **{name: array("fp16", "POOL", "PAGE", "HEADS", "D") for name in ("k_ptr", "v_ptr")},
            "table_ptr": array("i32", "SEQUENCES", "PAGES", fill="randint", high="POOL"),
            "o_ptr": zeros("fp16", "SEQUENCES", "HEADS", "D"), "PAGES": 64, "scale": LOG2E / 8,
        },
        sizes={"SEQUENCES": 64, "POOL": 4096}, fixed={"HEADS": 16, "PAGE": 16, "D": 64}, grid=("SEQUENCES", "HEADS"),
        outputs=("o_ptr",),
        space={"BLOCK_N": (4, 8, 16, 32, 64, 128, 256), "num_warps": WARPS, "num_stages": (1, 2, 3, 4)}, sample=100,
    ),
    Launch(
        file="attention.py",
        name="attention_backward_kv",
        arguments={
            **{name: array("fp16", "HEADS", "T", "D") for name in ("q_ptr", "k_ptr", "v_ptr", "do_ptr")},
            "lse_ptr": array("fp32", "HEADS", "T", fill="uniform", low=8.0, high=10.0),
            "delta_ptr": array("fp32", "HEADS", "T"),
            **{name: zeros("fp16", "HEADS", "T", "D") for name in ("dk_ptr", "dv_ptr")},
            "T": 2048, "scale": LOG2E / 8,
        },
        sizes={"HEADS": 32}, fixed={"D": 64}, grid=("cdiv(T, BLOCK_N)", "HEADS"), outputs=("dk_ptr", "dv_ptr"),
        space={**ATTENTION, "BLOCK_M": (16, 32, 64, 128), "BLOCK_N": (32, 64, 128)},
        flops="8 * HEADS * T * T * D", sample=96,
    ),
    Launch(
        file="attention.py",
        name="attention_backward_q",
        arguments={
            **{name: array("fp16", "HEADS", "T", "D") for name in ("q_ptr", "k_ptr", "v_ptr", "do_ptr")},
            "lse_ptr": array("fp32", "HEADS", "T", fill="uniform", low=8.0, high=10.0),
            "delta_ptr": array("fp32", "HEADS", "T"), "dq_ptr": zeros("fp16", "HEADS", "T", "D"),
            "T": 2048, "scale": LOG2E / 128**0.5,
        },
        sizes={"HEADS": 32}, fixed={"D": 128}, grid=("cdiv(T, BLOCK_M)", "HEADS"), outputs=("dq_ptr",),
        space={**ATTENTION, "BLOCK_M": (32, 64, 128)}, flops="3 * HEADS * T * T * D", sample=96,
    ),
    Launch(
        file="attention.py",
        name="linear_attention_chunks",
        arguments={
            **{name: array("bf16", "HEADS", "T", "D") for name in ("q_ptr", "k_ptr", "v_ptr")},
            "o_ptr": zeros("bf16", "HEADS", "T", "D"), "T": 1024,
        },
        sizes={"HEADS": 128}, fixed={"D": 128}, grid=("cdiv(D, BLOCK_V)", "HEADS"), outputs=("o_ptr",), tolerance=0.03,
        space={
            "BLOCK_V": (16, 32, 64, 128), "CHUNK": (16, 32, 64, 128), "num_warps": (2, 4, 8),
            "num_stages": (1, 2, 3),
        },
        sample=144,
    ),
    Launch(
        file="attention.py",
        name="attention_window_d64",
        arguments={
            **{name: array("fp16", "HEADS", "T", "D") for name in ("q_ptr", "k_ptr", "v_ptr")},
            "o_ptr": zeros("fp16", "HEADS", "T", "D"), "T": 4096, "scale": LOG2E / 8,
        },
        sizes={"HEADS": 64}, fixed={"WINDOW": 512, "D": 64}, grid=("cdiv(T, BLOCK_M)", "HEADS"), outputs=("o_ptr",),
        space=ATTENTION, tolerance=0.005, sample=128,
    ),
    Launch(
        file="attention.py",
        name="attention_fp8_d128",
        arguments={
            **{name: array("fp8e4nv", "HEADS", "T", "D") for name in ("q_ptr", "k_ptr")},
            "v_ptr": array("fp8e4nv", "HEADS", "D", "T"), "o_ptr": zeros("fp16", "HEADS", "T", "D"),
            "T": 2048, "scale": LOG2E / 128**0.5,
        },
        sizes={"HEADS": 32}, fixed={"D": 128}, grid=("cdiv(T, BLOCK_M)", "HEADS"), outputs=("o_ptr",), tolerance=0.1,
        space={**ATTENTION, "BLOCK_N": (32, 64, 128, 256)}, flops="4 * HEADS * T * T * D", sample=128,
    ),
)  # fmt: skip
