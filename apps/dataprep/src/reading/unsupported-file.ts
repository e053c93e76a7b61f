import { MegaNestError } from '#contracts';

/** The 400 for a file that cannot be read; `detail` ends the sentence "The file x cannot be read: …". */
export function unsupportedFile(filename: string, detail: string, cause?: unknown): MegaNestError {
  return new MegaNestError('unsupported_file', { file: filename, detail, param: 'files', cause });
}

/** Runs a parser; whatever it throws becomes `unsupported_file` that names the file and the format. */
export async function readingAs<Result>(
  filename: string,
  format: string,
  read: () => Promise<Result> | Result,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof MegaNestError) throw error;
    const reason = error instanceof RangeError ? 'it is nested too deeply' : messageOf(error);
    throw unsupportedFile(filename, `it is no valid ${format} (${reason})`, error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
