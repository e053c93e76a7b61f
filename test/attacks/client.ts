/** An answer, or the reason why there is none: status 0. */
export interface Answer {
  status: number;
  text: string;
  milliseconds: number;
}

/** A request of one key. */
export type Ask = (method: string, path: string, body?: unknown, signal?: AbortSignal) => Promise<Answer>;

/** Timeout of a request that is never answered. */
const maxMs = 60_000;

/** Sends requests of a key: JSON, or a form. */
export function clientOf(url: string, key: string): Ask {
  return async (method, path, body, signal = new AbortController().signal) => {
    const startedAt = performance.now();
    const isForm = body instanceof FormData;
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
    };
    const passed = () => performance.now() - startedAt;
    try {
      const answer = await fetch(url + path, {
        method,
        headers,
        signal: AbortSignal.any([signal, AbortSignal.timeout(maxMs)]),
        ...(body !== undefined && { body: isForm || typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = Buffer.from(await answer.arrayBuffer()).toString('latin1');
      return { status: answer.status, text, milliseconds: passed() };
    } catch (error) {
      return { status: 0, text: String(error), milliseconds: passed() };
    }
  };
}

/** A form with one file. */
export function fileForm(
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  fields: object = {},
): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, String(value));
  form.append('files', new Blob([content]), name);
  return form;
}
