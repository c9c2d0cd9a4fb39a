// Stands in for libcuda where there is no GPU: enough of it for Triton to load and "launch" a kernel. Device memory is
// host memory. STUB_CAPABILITY: of its GPU (90); STUB_DEVICES: how many (1); STUB_LAUNCH, STUB_FINISH: error codes;
// STUB_SECONDS: how long the kernel runs.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int number(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}

int cuInit(unsigned flags) { return number("STUB_DEVICES", 1) ? 0 : 100; }
int cuDeviceGetCount(int *count) { return *count = number("STUB_DEVICES", 1), 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }
int cuDriverGetVersion(int *version) { return *version = 12080, 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  int capability = number("STUB_CAPABILITY", 90);
  switch (attribute) {
  case 75: *value = capability / 10; break;
  case 76: *value = capability % 10; break;
  case 97: *value = 232448; break; // shared memory a block, opted in
  default: *value = 1024;
  }
  return 0;
}

static void *context;
int cuDevicePrimaryCtxRetain(void **made, int device) { return *made = &context, 0; }
int cuCtxSetCurrent(void *made) { return context = made, 0; }
int cuCtxGetCurrent(void **made) { return *made = context, 0; }
int cuCtxGetDevice(int *device) { return *device = 0, 0; }
int cuCtxGetLimit(size_t *value, int limit) { return *value = 1 << 20, 0; }
int cuCtxSetLimit(int limit, size_t value) { return 0; }
int cuStreamIsCapturing(void *stream, int *status) { return *status = 0, 0; }
int cuCtxSynchronize(void) {
  sleep(number("STUB_SECONDS", 0));
  return number("STUB_FINISH", 0);
}

int cuMemAlloc_v2(uint64_t *pointer, size_t size) {
  void *memory = NULL;
  int failed = posix_memalign(&memory, 256, size);
  return *pointer = (uint64_t)memory, failed ? 2 : 0;
}
int cuMemsetD8_v2(uint64_t pointer, unsigned char value, size_t size) { return 0; }
int cuMemcpyHtoD_v2(uint64_t pointer, const void *host, size_t size) {
  return memcpy((void *)pointer, host, size), 0;
}
int cuPointerGetAttribute(void *data, int attribute, uint64_t pointer) { return *(uint64_t *)data = pointer, 0; }

int cuModuleLoadData(void **module, const void *image) { return *module = &context, 0; }
int cuModuleUnload(void *module) { return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) { return *function = &context, 0; }
int cuFuncGetAttribute(int *value, int attribute, void *function) { return *value = attribute ? 0 : 1024, 0; }
int cuFuncSetAttribute(void *function, int attribute, int value) { return 0; }
int cuFuncSetCacheConfig(void *function, int config) { return 0; }
int cuOccupancyMaxActiveClusters(int *count, void *function, const void *config) { return *count = 1, 0; }

int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, uint64_t base, const uint64_t *shape,
                           const uint64_t *strides, const unsigned *box) {
  fprintf(stderr, "descriptor of %llu elements a row\n", (unsigned long long)shape[0]);
  return 0;
}

static int launched(unsigned x, unsigned y, unsigned z) {
  fprintf(stderr, "launched %u %u %u\n", x, y, z);
  return number("STUB_LAUNCH", 0);
}
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z) { return launched(x, y, z); }
int cuLaunchKernelEx(const unsigned *config, void *function) { return launched(config[0], config[1], config[2]); }

int cuGetErrorString(int code, const char **words) {
  *words = code == 1     ? "invalid argument"
           : code == 100 ? "no CUDA-capable device is detected"
           : code == 700 ? "an illegal memory access was encountered"
           : code == 716 ? "misaligned address"
                         : "unknown error";
  return 0;
}
