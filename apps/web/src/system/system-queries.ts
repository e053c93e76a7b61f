/** How often the page reads again, in milliseconds. */
export const followMs = 3_000;
