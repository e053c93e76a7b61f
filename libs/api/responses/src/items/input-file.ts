import { invalidField } from '#platform/contracts';

const textTypes = /^(text\/(?!html)|application\/(json|xml|yaml|x-yaml|csv)\b)/;
/** Each character matches at one place only, so the time to refuse a text is linear in its length. */
const base64Form = /^[\w+/\s-]*(?:={1,2}\s*)?$/;
const textNames =
  /\.(txt|md|markdown|csv|tsv|json|jsonl|xml|ya?ml|log|[cm]?[jt]sx?|py|java|go|rs|c|h|cpp|sh|sql)$/i;

/** A file in the request. */
export interface GivenFile {
  filename: string;
  /** Empty if unknown. */
  mimeType: string;
  bytes: Uint8Array;
}

/** The source of the file of an `input_file` part. */
export type InputFile = GivenFile | { url: string; filename?: string } | { id: string; filename?: string };

/**
 * The file of an `input_file` part: bytes in `file_data` (a data URL or plain base64), a URL, or a stored file.
 * Errors: invalid_request with the path.
 */
export function inputFileOf(part: Record<string, unknown>, path: string): InputFile {
  const { file_data: data, file_url: url, file_id: id } = part;
  const given = part['filename'];
  const filename = typeof given === 'string' && given !== '' ? given : undefined;
  const name = filename === undefined ? {} : { filename };
  if (typeof data === 'string') return givenFile(data, filename ?? 'file', `${path}.file_data`);
  if (typeof url === 'string') return { url, ...name };
  if (typeof id === 'string') return { id, ...name };
  throw invalidField(path, 'needs file_data, file_url or file_id');
}

function givenFile(data: string, filename: string, param: string): GivenFile {
  const match = /^data:([^;,]*)(;[^,]*)?,/.exec(data);
  const base64 = match ? data.slice(match[0].length) : data;
  if ((match && !match[2]?.endsWith(';base64')) || !base64Form.test(base64))
    throw invalidField(param, 'is not base64');
  return { filename, mimeType: match?.[1] ?? '', bytes: Buffer.from(base64, 'base64') };
}

/** The text of a file whose type or name says that it is text; undefined for other files, and if it is not UTF-8. */
export function textOfTextFile({ filename, mimeType, bytes }: GivenFile): string | undefined {
  const known = mimeType !== '' && mimeType !== 'application/octet-stream';
  if (!(known ? textTypes.test(mimeType) : textNames.test(filename))) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
