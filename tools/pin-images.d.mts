/** The files that name images of others. */
export const imageFiles: readonly string[];
/** The text with the digest of each image of others behind its tag; `digestOf` asks for one. */
export function pinImages(
  text: string,
  digestOf: (image: string) => string,
  options?: { update?: boolean },
): string;
/** The images of a text that have no digest. */
export function floatingImages(text: string): string[];
