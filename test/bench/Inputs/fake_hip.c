// The functions of the HIP runtime that the bench uses, without a GPU: memory is
// host memory, launches do nothing and take 20 us and a bit. FAKE_HIP=lost makes
// launches fail.
#include <stdlib.h>
#include <string.h>

static float elapsed;
static unsigned launches;

int hipInit(unsigned flags) { return flags; }
int hipGetDeviceCount(int *count) {
  *count = 1;
  return 0;
}
int hipSetDevice(int device) { return device; }
int hipDeviceGetName(char *name, int size, int device) {
  strncpy(name, "Pretended GPU", size);
  return device;
}
const char *hipGetErrorString(int code) { return code == 719 ? "unspecified launch failure" : "some error"; }
int hipMalloc(void **ptr, size_t size) {
  *ptr = malloc(size);
  return *ptr ? 0 : 2;
}
int hipFree(void *ptr) {
  free(ptr);
  return 0;
}
int hipMemcpyHtoD(void *to, const void *from, size_t size) {
  memcpy(to, from, size);
  return 0;
}
int hipMemcpyDtoH(void *to, void *from, size_t size) {
  memcpy(to, from, size);
  return 0;
}
int hipMemset(void *to, int value, size_t size) {
  // Flushes of the caches are too large to take part in.
  if (size < ((size_t)64 << 20))
    memset(to, value, size);
  return 0;
}
int hipDeviceSynchronize(void) { return 0; }
int hipModuleLoadData(void **module, const void *image) {
  *module = (void *)image;
  return memcmp(image, "\177ELF", 4) ? 200 : 0;
}
int hipModuleUnload(void *module) { return module == 0; }
int hipModuleGetFunction(void **function, void *module, const char *name) {
  *function = module;
  return name[0] == 0;
}
int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned lds, void *stream, void **params, void **extra) {
  if (getenv("FAKE_HIP"))
    return 719;
  if (!function || !gx || !gy || !gz || !bx || !by || !bz || stream || params || extra[0] != (void *)1 ||
      extra[2] != (void *)2 || extra[4] != (void *)3 || *(size_t *)extra[3] == 0)
    return 1;
  elapsed = 0.020f + 0.0001f * (float)(++launches * 7 % 11) + 0 * (float)lds;
  return 0;
}
int hipEventCreate(void **event) {
  *event = &elapsed;
  return 0;
}
int hipEventDestroy(void *event) { return event == 0; }
int hipEventRecord(void *event, void *stream) { return event == 0 || stream != 0; }
int hipEventSynchronize(void *event) { return event == 0; }
int hipEventElapsedTime(float *ms, void *from, void *to) {
  *ms = elapsed;
  return from == 0 || to == 0;
}
