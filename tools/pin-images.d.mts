/** The files that contain names of third-party images. */
export const imageFiles: readonly string[];
/** Adds the digest of each third-party image after its tag; `digestOf` looks a digest up. */
export function pinImages(
  text: string,
  digestOf: (image: string) => string,
  options?: { update?: boolean },
): string;
/** Returns the third-party images of a text without a digest. */
export function floatingImages(text: string): string[];
