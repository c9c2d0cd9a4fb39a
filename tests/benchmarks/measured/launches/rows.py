"""Launches of ``kernels/rows.py``."""

from measured.launches.launch import WARPS, Launch, array, zeros

LAUNCHES: tuple[Launch, ...] = (
    Launch(
        file="rows.py",
        name="rms_norm_rows",
        arguments={
            "x_ptr": array("bf16", "rows", "COLUMNS"), "w_ptr": array("bf16", "COLUMNS"),
            "y_ptr": zeros("bf16", "rows", "COLUMNS"), "rows": 16384, "eps": 1e-5,
        },
        fixed={"COLUMNS": 4096}, grid=("cdiv(rows, ROWS)",), outputs=("y_ptr",),
        space={"ROWS": (1, 2, 4, 8, 16), "num_warps": (1, 2, 4, 8, 16, 32)},
    ),
    Launch(
        file="rows.py",
        name="add_norm_quantise",
        arguments={
            **{name: array("fp16", "rows", "columns") for name in ("x_ptr", "residual_ptr")},
            "w_ptr": array("fp16", "columns"), "sum_ptr": zeros("fp16", "rows", "columns"),
            "q_ptr": zeros("i8", "rows", "columns"), "scale_ptr": zeros("fp32", "rows"),
            "columns": 8192, "eps": 1e-5,
        },
        sizes={"rows": 8192}, grid=("rows",), outputs=("sum_ptr", "q_ptr", "scale_ptr"),
        space={"BLOCK": (128, 256, 512, 1024, 2048, 4096, 8192), "num_warps": (1, 2, 4, 8, 16, 32),
               "num_stages": (1, 2, 3, 4)}, sample=168,
    ),
    Launch(
        file="rows.py",
        name="layer_norm_backward",
        arguments={
            **{name: array("fp16", "rows", "COLUMNS") for name in ("dy_ptr", "x_ptr")},
            "w_ptr": array("fp16", "COLUMNS"), "mean_ptr": array("fp32", "rows"),
            "rstd_ptr": array("fp32", "rows", fill="uniform", low=0.5, high=1.5),
            "dx_ptr": zeros("fp16", "rows", "COLUMNS"),
            **{name: zeros("fp32", "COLUMNS") for name in ("dw_ptr", "db_ptr")}, "rows": 16384,
        },
        fixed={"COLUMNS": 4096}, grid=("rows // ROWS",), outputs=("dx_ptr", "dw_ptr", "db_ptr"), accumulates=True,
        space={"ROWS": (1, 2, 4, 8, 16, 32, 64, 128), "num_warps": WARPS, "num_stages": (1, 2, 3)}, sample=70,
    ),
    Launch(
        file="rows.py",
        name="softmax_backward",
        arguments={
            "y_ptr": array("bf16", "rows", "columns", fill="uniform", high=0.001),
            "dy_ptr": array("bf16", "rows", "columns"), "dx_ptr": zeros("bf16", "rows", "columns"), "columns": 4096,
        },
        sizes={"rows": 16384}, grid=("rows // ROWS",), outputs=("dx_ptr",), tolerance=0.02,
        space={"ROWS": (1, 2, 4, 8, 16), "BLOCK": (64, 128, 256, 512, 1024, 2048, 4096), "num_warps": WARPS,
               "num_stages": (1, 3)},
    ),
    Launch(
        file="rows.py",
        name="cross_entropy",
        arguments={
            "logit_ptr": array("bf16", "rows", "vocabulary"), "label_ptr": array("i32", "rows", high="vocabulary"),
            **{name: zeros("fp32", "rows") for name in ("loss_ptr", "lse_ptr")}, "vocabulary": 32768,
        },
        sizes={"rows": 4096}, grid=("rows",), outputs=("loss_ptr", "lse_ptr"),
        space={"BLOCK": (512, 1024, 2048, 4096, 8192, 16384, 32768), "num_warps": (1, 2, 4, 8, 16, 32),
               "num_stages": (1, 2, 3, 4)},
        sample=168,
    ),
    Launch(
        file="rows.py",
        name="column_sums",
        arguments={
            "x_ptr": array("fp16", "rows", "columns"), "y_ptr": zeros("fp32", "columns"),
            "rows": 16384, "columns": 8192,
        },
        grid=("cdiv(columns, BLOCK_C)", "PARTS"), outputs=("y_ptr",), accumulates=True, tolerance=0.001,
        space={"BLOCK_R": (1, 4, 16, 32, 64, 128), "BLOCK_C": (32, 64, 128, 256, 512, 1024),
               "PARTS": (1, 4, 16, 64, 128), "num_warps": WARPS, "num_stages": (1, 3)},
    ),
    Launch(
        file="rows.py",
        name="row_cumulative_sum",
        arguments={
            "x_ptr": array("bf16", "rows", "columns"), "y_ptr": zeros("fp32", "rows", "columns"), "columns": 4096,
        },
        sizes={"rows": 8192}, grid=("rows // ROWS",), outputs=("y_ptr",), tolerance=0.001,
        space={"ROWS": (1, 2, 4, 8, 16), "BLOCK": (64, 128, 256, 512, 1024, 2048, 4096), "num_warps": WARPS,
               "num_stages": (1, 3)},
        sample=80,
    ),
    Launch(
        file="rows.py",
        name="linear_recurrence",
        arguments={
            "a_ptr": array("fp32", "BATCH", "T", "CHANNELS", fill="uniform", low=0.5, high=1.0),
            "x_ptr": array("fp32", "BATCH", "T", "CHANNELS"), "h_ptr": zeros("fp32", "BATCH", "T", "CHANNELS"),
            "T": 1024, "CHANNELS": 2048,
        },
        sizes={"BATCH": 8}, grid=("cdiv(CHANNELS, BLOCK_C)", "BATCH"), outputs=("h_ptr",), tolerance=0.001,
        space={"BLOCK_T": (8, 16, 32, 64, 128, 256), "BLOCK_C": (8, 16, 32, 64, 128), "num_warps": WARPS,
               "num_stages": (1, 2, 3)},
        sample=70,
    ),
    Launch(
        file="rows.py",
        name="top_of_row",
        arguments={
            "x_ptr": array("bf16", "rows", "columns"), "value_ptr": zeros("fp32", "rows"),
            "index_ptr": zeros("i32", "rows"), "columns": 32768,
        },
        sizes={"rows": 4096}, grid=("rows",), outputs=("value_ptr",), tolerance=0.0,
        space={"BLOCK": (256, 512, 1024, 2048, 4096, 8192, 16384), "num_warps": (1, 2, 4, 8, 16, 32),
               "num_stages": (1, 2, 3, 4)},
        sample=70,
    ),
    Launch(
        file="rows.py",
        name="sort_rows",
        arguments={"x_ptr": array("fp32", "rows", "COLUMNS"), "y_ptr": zeros("fp32", "rows", "COLUMNS")},
        sizes={"rows": 32768}, fixed={"COLUMNS": 256}, grid=("rows // ROWS",), outputs=("y_ptr",), tolerance=0.0,
        space={"ROWS": (1, 2, 4, 8, 16), "num_warps": (1, 2, 4, 8)},
    ),
    Launch(
        file="rows.py",
        name="column_normalise",
        arguments={
            "x_ptr": array("fp16", "rows", "columns"), "y_ptr": zeros("fp16", "rows", "columns"),
            "rows": 4096, "columns": 16384, "eps": 1e-5,
        },
        grid=("cdiv(columns, BLOCK_C)",), outputs=("y_ptr",),
        space={"BLOCK_R": (1, 4, 16, 32, 64, 128), "BLOCK_C": (16, 32, 64, 128, 256, 512), "num_warps": WARPS,
               "num_stages": (1, 2, 3, 4)},
    ),
    Launch(
        file="rows.py",
        name="selective_scan",
        arguments={
            "x_ptr": array("bf16", "BATCH", "T", "CHANNELS"),
            "dt_ptr": array("bf16", "BATCH", "T", "CHANNELS", fill="uniform", low=0.01, high=0.1),
            "a_ptr": array("fp32", "CHANNELS", "STATE", fill="uniform", low=-8.0, high=-1.0),
            **{name: array("bf16", "BATCH", "T", "STATE") for name in ("b_ptr", "c_ptr")},
            "y_ptr": zeros("bf16", "BATCH", "T", "CHANNELS"), "T": 512, "CHANNELS": 2048,
        },
        sizes={"BATCH": 8}, fixed={"STATE": 16}, grid=("cdiv(CHANNELS, BLOCK_C)", "BATCH"), outputs=("y_ptr",),
        space={"BLOCK_C": (4, 8, 16, 32, 64, 128), "num_warps": (1, 2, 4, 8), "num_stages": (1, 2, 3, 4)}, sample=96,
    ),
    Launch(
        file="rows.py",
        name="gelu_backward_bias",
        arguments={
            **{name: array("bf16", "rows", "columns") for name in ("x_ptr", "dy_ptr")},
            "dx_ptr": zeros("bf16", "rows", "columns"), "db_ptr": zeros("fp32", "columns"),
            "rows": 8192, "columns": 8192,
        },
        grid=("cdiv(columns, BLOCK_C)", "PARTS"), outputs=("dx_ptr", "db_ptr"), accumulates=True,
        space={"PARTS": (4, 16, 64, 128), "BLOCK_R": (1, 4, 8, 16, 32, 64), "BLOCK_C": (32, 64, 128, 256, 512),
               "num_warps": WARPS, "num_stages": (1, 3)},
    ),
)  # fmt: skip
