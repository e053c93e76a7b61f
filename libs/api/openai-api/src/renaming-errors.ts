/** Passes the items on. `rename` returns the error to throw in place of a thrown one. */
export async function* renamingErrors<Item>(
  items: AsyncIterable<Item>,
  rename: (error: unknown) => unknown,
): AsyncGenerator<Item, void, void> {
  try {
    yield* items;
  } catch (error) {
    throw rename(error);
  }
}
