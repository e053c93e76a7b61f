/** Goes on with an iteration whose first step was taken already. Leaving it ends the source. */
export async function* continueWith<Item>(
  first: IteratorResult<Item> | Promise<IteratorResult<Item>>,
  rest: AsyncIterator<Item>,
): AsyncGenerator<Item> {
  try {
    for (let step = await first; !step.done; step = await rest.next()) yield step.value;
  } finally {
    await rest.return?.();
  }
}
