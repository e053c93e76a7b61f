/**
 * Returns a function that takes one part of a result. The result is made when the first part is taken, and freed after
 * `parts` parts: they are constants of a graph that are written one after the other, and a matrix should be read once.
 */
export function takenOnce<Result extends object>(
  make: () => Promise<Result>,
  parts: number,
): <Key extends keyof Result>(key: Key) => Promise<Result[Key]> {
  let pending: Promise<Result> | undefined;
  let left = parts;
  return async (key) => {
    pending ??= make();
    const result = await pending;
    left -= 1;
    if (left === 0) {
      pending = undefined;
      left = parts;
    }
    return result[key];
  };
}
