import { MegaNestError } from '#contracts';

const textTypes = /^(text\/|application\/(json|xml|yaml|x-yaml|csv)\b)/;
const textNames =
  /\.(txt|md|markdown|csv|tsv|json|jsonl|xml|ya?ml|html?|log|[cm]?[jt]sx?|py|java|go|rs|c|h|cpp|sh|sql)$/i;

/**
 * The text of an `input_file` part that carries a text file in `file_data` (a data URL or bare base64), below a line
 * with its name. Errors: unsupported_parameter for other kinds of files and for files by id or URL.
 */
export function readInputFile(part: Record<string, unknown>, path: string): string {
  const { file_data: data, filename } = part;
  if (typeof data !== 'string') {
    throw unsupported(path, 'only files whose content is in file_data can be read');
  }
  const { mediaType, base64 } = splitDataUrl(data);
  const name = typeof filename === 'string' ? filename : 'file';
  if (!(mediaType ? textTypes.test(mediaType) : textNames.test(name))) {
    throw unsupported(path, `files of type ${mediaType ?? name} cannot be read here; text files can`);
  }
  return `${name}:\n${decode(base64, `${path}.file_data`)}`;
}

function splitDataUrl(data: string): { mediaType?: string; base64: string } {
  const match = /^data:([^;,]*)(?:;[^,]*)?,/.exec(data);
  return match ? { mediaType: match[1], base64: data.slice(match[0].length) } : { base64: data };
}

function decode(base64: string, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'));
  } catch (cause) {
    throw new MegaNestError('invalid_request', { detail: `${path}: is not UTF-8 text`, param: path, cause });
  }
}

function unsupported(path: string, reason: string): MegaNestError {
  return new MegaNestError('unsupported_parameter', { detail: `${path}: ${reason}`, param: path });
}
