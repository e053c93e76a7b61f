# Sourced by the scripts that train encoders, after `work` is set: creates the folder, and compiles the operators of
# ops.cpp. Sets `python` and the environment of ops.py.
python=${PYTHON:-/usr/bin/python3}
mkdir -p "$work"
# Without AMX the matrix products take AVX-512's bfloat16 instructions.
grep -q amx_bf16 /proc/cpuinfo && tiles= || tiles=-DNOAMX
g++ -O3 -march=native -ffast-math -fopenmp -shared -fPIC $tiles tools/training/reader/ops.cpp -o "$work/libops.so"
export OPS="$work/libops.so" OMP_NUM_THREADS="${OMP_NUM_THREADS:-$(nproc)}"

# Writes nano-rerank, in the version before it got the weights of nano-reader, to $work/models/nano-rerank.
fetch_first_reranker() {
  [ -d "$work/models/nano-rerank" ] || git archive 34cd3c9^ models/nano-rerank | tar -x -C "$work"
}
