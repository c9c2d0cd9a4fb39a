module {
  llvm.func @matmul(%arg0: i1, %arg1: i64) {
    %0 = nvgpu.wgmma %arg1, %arg1, %arg0 {eltTypeA = 6 : i32, eltTypeB = 6 : i32, eltTypeC = 7 : i32, k = 8 : i32, layoutA = 0 : i32, layoutB = 0 : i32, m = 64 : i32, n = 16 : i32} : (i64, i64, i1) -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    llvm.return
  }
}
