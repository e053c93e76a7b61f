/**
 * Logistic regression by Newton's method on standardized features, with a ridge; returns weights for the raw features.
 * `shares`: the weight of each row.
 */
export function fitLogistic(rows, labels, { ridge = 1, steps = 25, shares } = {}) {
  const width = rows[0].length;
  const mean = Array.from(
    { length: width },
    (_, k) => rows.reduce((sum, row) => sum + row[k], 0) / rows.length,
  );
  const deviation = mean.map(
    (m, k) => Math.sqrt(rows.reduce((sum, row) => sum + (row[k] - m) ** 2, 0) / rows.length) || 1,
  );
  const points = rows.map((row) => [...row.map((value, k) => (value - mean[k]) / deviation[k]), 1]);
  let weights = Array.from({ length: width + 1 }, () => 0);
  for (let step = 0; step < steps; step++) {
    const gradient = weights.map((weight, k) => (k < width ? ridge * weight : 0));
    const hessian = weights.map((_, k) =>
      weights.map((_unused, j) => (j === k && k < width ? ridge : j === k ? 1e-9 : 0)),
    );
    points.forEach((point, index) => {
      const p = 1 / (1 + Math.exp(-dot(weights, point)));
      const share = shares?.[index] ?? 1;
      for (let k = 0; k <= width; k++) {
        gradient[k] += share * (p - labels[index]) * point[k];
        const scaled = share * p * (1 - p) * point[k];
        for (let j = k; j <= width; j++) hessian[k][j] += scaled * point[j];
      }
    });
    for (let k = 0; k <= width; k++) for (let j = 0; j < k; j++) hessian[k][j] = hessian[j][k];
    const change = solve(hessian, gradient);
    weights = weights.map((weight, k) => weight - change[k]);
    if (Math.max(...change.map(Math.abs)) < 1e-7) break;
  }
  const raw = weights.slice(0, width).map((weight, k) => weight / deviation[k]);
  return { weights: raw, bias: weights[width] - dot(raw, mean) };
}

export function dot(left, right) {
  let sum = 0;
  for (let k = 0; k < right.length; k++) sum += left[k] * right[k];
  return sum;
}

/** Gaussian elimination with pivots. */
function solve(matrix, values) {
  const size = values.length;
  const rows = matrix.map((row, k) => [...row, values[k]]);
  for (let k = 0; k < size; k++) {
    const pivot = rows
      .slice(k)
      .reduce((best, row, at) => (Math.abs(row[k]) > Math.abs(rows[best][k]) ? k + at : best), k);
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    for (let below = k + 1; below < size; below++) {
      const factor = rows[below][k] / rows[k][k];
      for (let j = k; j <= size; j++) rows[below][j] -= factor * rows[k][j];
    }
  }
  const result = Array.from({ length: size }, () => 0);
  for (let k = size - 1; k >= 0; k--) {
    result[k] = (rows[k][size] - dot(rows[k].slice(k + 1, size), result.slice(k + 1))) / rows[k][k];
  }
  return result;
}
