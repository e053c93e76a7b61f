import type { Picture, PictureTextReader } from '#engine/vision';
import type { PageContent } from '../pdf/content/page-content.js';
import { pageOfPicture } from './page-of-picture.js';

let report = () => {};

/** Sets a function that is called before each page, since a page takes seconds. */
export function onScannedPage(listener: () => void): void {
  report = listener;
}

let opening: Promise<PictureTextReader> | undefined;

/** Whether the models that read text in pictures are installed; if not, the command that installs them. */
export async function missingModels(): Promise<string | undefined> {
  const { findOcrModels, howToGetOcrModels } = await import('#engine/vision');
  return findOcrModels() ? undefined : howToGetOcrModels;
}

/** Reads the text of a picture of a page. The models stay loaded. `scale`: points of a pixel. */
export async function readPageOfPicture(picture: Picture, scale: number): Promise<PageContent> {
  const { findOcrModels, PictureTextReader } = await import('#engine/vision');
  const files = findOcrModels();
  if (!files) throw new Error('The models that read text in pictures are not installed.');
  report();
  opening ??= PictureTextReader.load(files);
  const reader = await opening;
  return pageOfPicture(await reader.read(picture), scale);
}
