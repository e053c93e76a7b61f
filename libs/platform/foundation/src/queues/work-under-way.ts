/** Pieces of work that can be seen at the same time, and bytes of the name of each. */
const maxSeen = 32;
const slotBytes = 160;

const slots = new Uint8Array(new SharedArrayBuffer(maxSeen * slotBytes));
const free = Array.from({ length: maxSeen }, (_unused, slot) => slot);
const utf8 = new TextEncoder();

/**
 * Makes the name of running work visible to other threads until the returned function is called: a watchdog says what a
 * process worked on when it stood still. Work beyond 32 pieces is not seen.
 */
export function showWork(name: string): () => void {
  const slot = free.pop();
  if (slot === undefined) return () => undefined;
  const place = slots.subarray(slot * slotBytes, (slot + 1) * slotBytes);
  const { written } = utf8.encodeInto(name.slice(0, slotBytes), place.subarray(1));
  place[0] = written;
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    place[0] = 0;
    free.push(slot);
  };
}

/** The memory of the names: slots of 160 bytes, each with the length of its name first; 0 for an empty slot. */
export const workUnderWay = { slots, slotBytes } as const;
