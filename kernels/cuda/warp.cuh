#pragma once
#include "kernels/cuda/collective/warp.cuh"
