/* Runs kernels of a file with the first OpenCL device. usage: host SOURCE INPUT OUTPUT-STEM KERNEL... */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *slurp(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  char *p;
  if (!f)
    exit(3);
  fseek(f, 0, SEEK_END);
  *n = (size_t)ftell(f);
  rewind(f);
  p = calloc(*n + 1, 1);
  if (fread(p, 1, *n, f) != *n)
    exit(3);
  fclose(f);
  return p;
}

int main(int argc, char **argv) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int err;
  size_t length, bytes, global = 2048, group = 256;
  char *source = slurp(argv[1], &length), *input = slurp(argv[2], &bytes), *out = malloc(16384);
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
    return 77;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &err);
  cl_program program = clCreateProgramWithSource(context, 1, (const char **)&source, &length, &err);
  if (clBuildProgram(program, 1, &device, "-cl-fp32-correctly-rounded-divide-sqrt", NULL, NULL)) {
    static char log[20000];
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(log) - 1, log, NULL);
    fprintf(stderr, "%s\n", log);
    return 1;
  }
  cl_mem in = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, input, &err);
  for (int k = 4; k < argc; ++k) {
    char path[4096];
    memset(out, 0, 16384);
    cl_mem result = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 16384, out, &err);
    cl_kernel kernel = clCreateKernel(program, argv[k], &err);
    if (err || clSetKernelArg(kernel, 0, sizeof(in), &in) || clSetKernelArg(kernel, 1, sizeof(result), &result) ||
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &group, 0, NULL, NULL) ||
        clEnqueueReadBuffer(queue, result, CL_TRUE, 0, 16384, out, 0, NULL, NULL)) {
      fprintf(stderr, "%s failed\n", argv[k]);
      return 1;
    }
    snprintf(path, sizeof(path), "%s.%s.host", argv[3], argv[k]);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(out, 1, 16384, f) != 16384 || fclose(f))
      return 3;
  }
  return 0;
}
