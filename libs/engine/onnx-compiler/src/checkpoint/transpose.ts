/** Transposes `[rows, columns]` to `[columns, rows]`, in tiles that fit the CPU cache. */
export function transpose<T extends Float32Array | Int32Array>(values: T, rows: number, columns: number): T {
  const result = new (values.constructor as new (length: number) => T)(values.length);
  const tile = 32;
  for (let left = 0; left < columns; left += tile)
    for (let top = 0; top < rows; top += tile) {
      const [right, bottom] = [Math.min(left + tile, columns), Math.min(top + tile, rows)];
      for (let column = left; column < right; column++) {
        const place = column * rows;
        for (let row = top; row < bottom; row++) result[place + row] = values[row * columns + column]!;
      }
    }
  return result;
}
