import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** A `curl` line of a page, ready to be sent. */
export interface PastedRequest {
  /** The line as it stands in the page, continued lines joined. */
  line: string;
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
  /** Of a form: name and value; `@name` is a file. */
  form: [name: string, value: string][];
}

/** What a reader of a page would paste, in order: requests, and files written with `echo '…' > name`. */
export type PastedCommand = PastedRequest | { line: string; file: string; content: string };

/** The `curl` and `echo … >` lines of all `sh` blocks of a page. */
export async function pastedCommands(page: URL): Promise<PastedCommand[]> {
  const blocks = [...(await readFile(page, 'utf8')).matchAll(/```sh\n([\s\S]*?)```/g)];
  const lines = blocks.flatMap(([, block = '']) => block.replaceAll(/\\\n\s*/g, '').split('\n'));
  return lines.flatMap((line) => commandOf(line.trim()) ?? []);
}

function commandOf(line: string): PastedCommand | undefined {
  const [program, ...args] = wordsOf(line);
  if (program === 'curl') return requestOf(line, args);
  const [content, arrow, file] = args;
  if (program !== 'echo' || arrow !== '>' || content === undefined || file === undefined) return undefined;
  return { line, file, content: `${content}\n` };
}

/** Words of a shell line: single and double quotes, no substitution. */
function wordsOf(line: string): string[] {
  const words = line.matchAll(/(?:'[^']*'|"(?:[^"\\]|\\.)*"|[^\s'"])+/g);
  return [...words].map(([word]) =>
    word.replaceAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"/g, (_match, single?: string, double?: string) =>
      single === undefined ? (double ?? '').replaceAll(/\\(.)/g, '$1') : single,
    ),
  );
}

function requestOf(line: string, args: readonly string[]): PastedRequest {
  const request: PastedRequest = { line, url: '', method: '', headers: {}, form: [] };
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === '-H') addHeader(request, rest.shift() ?? '');
    else if (arg === '-d') request.body = rest.shift();
    else if (arg === '-F') addField(request, rest.shift() ?? '');
    else if (arg === '-X') request.method = rest.shift() ?? '';
    else if (arg.startsWith('http')) request.url = arg;
    // Where the answer is written to.
    else if (arg === '-o') rest.shift();
    else if (!['-s', '-N', '-sN'].includes(arg)) throw new Error(`${line}: what does ${arg} mean?`);
  }
  request.method ||= request.body !== undefined || request.form.length > 0 ? 'POST' : 'GET';
  return request;
}

function addHeader({ headers }: PastedRequest, header: string): void {
  const [name = '', value = ''] = header.split(/:\s*/, 2);
  headers[name] = value;
}

function addField({ form }: PastedRequest, field: string): void {
  const border = field.indexOf('=');
  form.push([field.slice(0, border), field.slice(border + 1)]);
}

/** Sends a request as curl does, with the ports of a page replaced by those of a running stack; files lie in `folder`. */
export async function sendPasted(
  request: PastedRequest,
  urls: Readonly<Record<string, string>>,
  folder: string,
): Promise<Response> {
  const { origin, pathname, search } = new URL(request.url);
  const { method, headers } = request;
  const body = request.form.length > 0 ? await formOf(request.form, folder) : request.body;
  const target = `${urls[origin] ?? origin}${pathname}${search}`;
  return fetch(target, { method, headers, ...(body !== undefined && { body }) });
}

/** Does what a page says, one command after the other, and gives the answers of the requests. */
export async function runPasted(
  commands: readonly PastedCommand[],
  urls: Readonly<Record<string, string>>,
  folder: string,
): Promise<{ line: string; status: number; text: string }[]> {
  const answers: { line: string; status: number; text: string }[] = [];
  for (const command of commands) {
    if ('file' in command) await writeFile(join(folder, command.file), command.content);
    else {
      const response = await sendPasted(command, urls, folder);
      answers.push({ line: command.line, status: response.status, text: await response.text() });
    }
  }
  return answers;
}

async function formOf(fields: PastedRequest['form'], folder: string): Promise<FormData> {
  const form = new FormData();
  for (const [name, value] of fields) {
    if (!value.startsWith('@')) form.append(name, value);
    else
      form.append(name, new Blob([await readFile(join(folder, value.slice(1)))]), basename(value.slice(1)));
  }
  return form;
}
