"""Launches of ``kernels/elements.py``."""

from measured.launches.launch import WARPS, Launch, array, zeros

LAUNCHES: tuple[Launch, ...] = (
    Launch(
        file="elements.py",
        name="rotary_embedding",
        arguments={
            "x_ptr": array("bf16", "BATCH", "T", "HEADS", 128),
            **{name: array("fp32", "T", "HALF", fill="uniform", low=-1.0) for name in ("cos_ptr", "sin_ptr")},
            "y_ptr": zeros("bf16", "BATCH", "T", "HEADS", 128), "T": 4096, "HEADS": 32,
        },
        sizes={"BATCH": 4}, fixed={"HALF": 64}, grid=("cdiv(T, BLOCK_T)", "BATCH"), outputs=("y_ptr",), tolerance=0.02,
        space={"BLOCK_T": (1, 2, 4, 8, 16), "BLOCK_H": (1, 2, 4, 8, 16, 32), "num_warps": WARPS}, sample=150,
    ),
    Launch(
        file="elements.py",
        name="swiglu_rows",
        arguments={
            "x_ptr": array("fp16", "rows", "2 * columns"), "y_ptr": zeros("fp16", "rows", "columns"), "columns": 8192,
        },
        sizes={"rows": 8192}, grid=("rows", "cdiv(columns, BLOCK)"), outputs=("y_ptr",),
        space={"BLOCK": (64, 128, 256, 512, 1024, 2048, 4096, 8192), "num_warps": (1, 2, 4, 8, 16, 32)},
    ),
    Launch(
        file="elements.py",
        name="transpose_cast",
        arguments={
            "x_ptr": array("fp32", "rows", "columns"), "y_ptr": zeros("bf16", "columns", "rows"),
            "rows": 8192, "columns": 8192,
        },
        grid=("cdiv(rows, BLOCK_R)", "cdiv(columns, BLOCK_C)"), outputs=("y_ptr",),
        space={"BLOCK_R": (8, 16, 32, 64, 128, 256), "BLOCK_C": (8, 16, 32, 64, 128, 256), "num_warps": WARPS},
        sample=180,
    ),
    Launch(
        file="elements.py",
        name="embedding_rows",
        arguments={
            "table_ptr": array("fp16", "WORDS", "columns"), "index_ptr": array("i32", "tokens", high="WORDS"),
            "y_ptr": zeros("fp16", "tokens", "columns"), "columns": 1024,
        },
        sizes={"WORDS": 65536, "tokens": 65536}, grid=("tokens // ROWS",), outputs=("y_ptr",), tolerance=0.0,
        space={"ROWS": (1, 2, 4, 8, 16, 32), "BLOCK": (64, 128, 256, 512, 1024), "num_warps": WARPS,
               "num_stages": (1, 2, 4)},
        sample=70,
    ),
    Launch(
        file="elements.py",
        name="histogram_bytes",
        arguments={
            "x_ptr": array("u8", "elements", high=256), "count_ptr": zeros("i32", "BINS"), "elements": 1 << 26,
        },
        fixed={"BINS": 256}, grid=("elements // (BLOCK * STEPS)",), outputs=("count_ptr",), accumulates=True,
        tolerance=0.0,
        space={"BLOCK": (256, 512, 1024, 2048, 4096, 8192), "STEPS": (1, 4, 16, 64), "num_warps": WARPS,
               "num_stages": (1, 3)},
        sample=60,
    ),
    Launch(
        file="elements.py",
        name="adam_step",
        arguments={
            "p_ptr": array("fp32", "elements"), "g_ptr": array("bf16", "elements"), "m_ptr": array("fp32", "elements"),
            "v_ptr": array("fp32", "elements", fill="uniform"), "out_ptr": zeros("fp32", "elements"),
            "elements": 1 << 25, "rate": 0.001, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8,
        },
        grid=("cdiv(elements, BLOCK)",), outputs=("out_ptr",),
        space={"BLOCK": (64, 128, 256, 512, 1024, 2048, 4096, 8192), "num_warps": (1, 2, 4, 8, 16, 32)},
    ),
    Launch(
        file="elements.py",
        name="dropout_gelu",
        arguments={
            "x_ptr": array("fp16", "elements"), "y_ptr": zeros("fp16", "elements"), "elements": 1 << 26,
            "keep": 0.9, "seed": 7,
        },
        grid=("cdiv(elements, BLOCK)",), outputs=("y_ptr",),
        space={"BLOCK": (128, 256, 512, 1024, 2048, 4096, 8192), "num_warps": (1, 2, 4, 8, 16)},
    ),
    Launch(
        file="elements.py",
        name="quantise_fp8_groups",
        arguments={
            "x_ptr": array("bf16", "groups", 128), "q_ptr": zeros("fp8e4nv", "groups", 128),
            "scale_ptr": zeros("fp32", "groups"), "groups": 1 << 20,
        },
        grid=("groups // ROWS",), outputs=("q_ptr", "scale_ptr"), tolerance=0.08,
        space={"ROWS": (1, 2, 4, 8, 16, 32, 64, 128), "num_warps": WARPS},
    ),
    Launch(
        file="elements.py",
        name="causal_conv1d",
        arguments={
            "x_ptr": array("bf16", "BATCH", "T", "CHANNELS"), "w_ptr": array("bf16", 4, "CHANNELS"),
            "y_ptr": zeros("bf16", "BATCH", "T", "CHANNELS"), "T": 4096, "CHANNELS": 4096,
        },
        sizes={"BATCH": 4}, grid=("cdiv(T, BLOCK_T)", "cdiv(CHANNELS, BLOCK_C)", "BATCH"), outputs=("y_ptr",),
        space={"BLOCK_T": (1, 4, 8, 16, 32, 64), "BLOCK_C": (64, 128, 256, 512, 1024), "num_warps": WARPS},
        sample=80,
    ),
    Launch(
        file="elements.py",
        name="transpose_add_fp16",
        arguments={
            **{name: array("fp16", "rows", "columns") for name in ("x_ptr", "z_ptr")},
            "y_ptr": zeros("fp16", "columns", "rows"), "rows": 8192, "columns": 8192,
        },
        grid=("cdiv(rows, BLOCK_R)", "cdiv(columns, BLOCK_C)"), outputs=("y_ptr",),
        space={"BLOCK_R": (16, 32, 64, 128, 256), "BLOCK_C": (16, 32, 64, 128, 256), "num_warps": WARPS}, sample=125,
    ),
    Launch(
        file="elements.py",
        name="embedding_gradient",
        arguments={
            "dy_ptr": array("bf16", "tokens", "columns"), "index_ptr": array("i32", "tokens", high="WORDS"),
            "dw_ptr": zeros("fp32", "WORDS", "columns"), "columns": 1024,
        },
        sizes={"WORDS": 16384, "tokens": 32768}, grid=("tokens // ROWS", "columns // BLOCK"), outputs=("dw_ptr",),
        accumulates=True, space={"ROWS": (1, 2, 4, 8, 16), "BLOCK": (64, 128, 256, 512, 1024), "num_warps": WARPS},
        sample=70,
    ),
    Launch(
        file="elements.py",
        name="sparse_rows",
        arguments={
            "index_ptr": array("i32", "rows", "PER_ROW", high="rows"), "value_ptr": array("fp32", "rows", "PER_ROW"),
            "x_ptr": array("fp16", "rows", "COLUMNS"), "y_ptr": zeros("fp16", "rows", "COLUMNS"),
        },
        sizes={"rows": 65536}, fixed={"COLUMNS": 256, "PER_ROW": 16}, grid=("rows // ROWS", "COLUMNS // BLOCK"),
        outputs=("y_ptr",),
        space={"ROWS": (1, 2, 4, 8, 16, 32), "BLOCK": (32, 64, 128, 256), "num_warps": WARPS, "num_stages": (1, 2, 4)},
        sample=80,
    ),
    Launch(
        file="elements.py",
        name="max_pool_nhwc",
        arguments={
            "x_ptr": array("fp16", "IMAGES", "H", "W", "C"), "y_ptr": zeros("fp16", "IMAGES", "H // 2", "W // 2", "C"),
            "H": 112, "W": 112, "C": 128,
        },
        sizes={"IMAGES": 64}, grid=("cdiv(IMAGES * (H // 2) * (W // 2), BLOCK_P)", "cdiv(C, BLOCK_C)"),
        outputs=("y_ptr",), tolerance=0.0,
        space={"BLOCK_P": (1, 4, 8, 16, 32, 64), "BLOCK_C": (16, 32, 64, 128), "num_warps": WARPS}, sample=80,
    ),
    Launch(
        file="elements.py",
        name="body_forces",
        arguments={
            **{name: array("fp32", "bodies") for name in ("x_ptr", "y_ptr", "z_ptr")},
            "out_ptr": zeros("fp32", "bodies"), "bodies": 16384, "softening": 0.01,
        },
        grid=("cdiv(bodies, BLOCK_I)",), outputs=("out_ptr",), tolerance=0.001,
        space={"BLOCK_I": (8, 16, 32, 64, 128), "BLOCK_J": (16, 32, 64, 128, 256), "num_warps": (1, 2, 4, 8),
               "num_stages": (1, 3)},
        sample=80,
    ),
)  # fmt: skip
