import OpenAI, { APIConnectionError } from 'openai';
import { text } from '../i18n/text';
import { Stored } from '../stored';

/** The API key of this session. It is deleted when the tab closes. */
export const apiKey = new Stored<string | null>('meganest-api-key', null, window.sessionStorage);

/** True while the gateway refuses the key. */
export const keyRefused = new Stored<boolean>('meganest-key-refused', false, window.sessionStorage);

/** Address of the API, relative to the page, so that a proxy may add any prefix. */
export const apiUrl = new URL('v1', new URL('.', document.baseURI)).href;

/** An error from the gateway. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    message: string,
    readonly status: number,
    readonly code?: string,
  ) {
    super(message);
  }
}

/** Headers of every call. */
export function authorization(): Record<string, string> {
  const key = apiKey.get();
  return key ? { authorization: `Bearer ${key}` } : {};
}

/** The error of an answer, with the gateway's message if there is one. */
export function errorOf(status: number, body: string): ApiError {
  if (status === 401) keyRefused.set(true);
  try {
    const { error } = JSON.parse(body) as { error?: { message?: string; code?: string } };
    if (error?.message) return new ApiError(error.message, status, error.code);
  } catch {
    // A proxy may answer with another format.
  }
  return new ApiError(`HTTP ${status}`, status);
}

/** Calls a path under `/v1` and reads its JSON. Errors: {@link ApiError}. */
export async function call<Answer>(path: string, body?: unknown, init: RequestInit = {}): Promise<Answer> {
  const hasBody = body !== undefined;
  const response = await reach(apiUrl + path, {
    method: hasBody ? 'POST' : 'GET',
    ...init,
    headers: {
      ...authorization(),
      ...(hasBody && !(body instanceof FormData) && { 'content-type': 'application/json' }),
    },
    ...(hasBody && { body: body instanceof FormData ? body : JSON.stringify(body) }),
  });
  if (!response.ok) throw errorOf(response.status, await response.text());
  return (await response.json()) as Answer;
}

/** Fetches. The browser's own errors are English, and do not name the gateway. */
async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    throw new Error(text('unreachable'), { cause });
  }
}

/** The message of a thrown value. */
export function messageOf(error: unknown): string {
  if (error instanceof APIConnectionError) return text('unreachable');
  return error instanceof Error ? error.message : String(error);
}

let current: { key: string | null; client: OpenAI } | undefined;

/** The official client of OpenAI for this gateway, with the key of the session. */
export function openai(): OpenAI {
  const key = apiKey.get();
  if (current?.key !== key) {
    // The client needs a key. A gateway without keys accepts any key.
    const client = new OpenAI({
      baseURL: apiUrl,
      apiKey: key ?? 'none',
      dangerouslyAllowBrowser: true,
      maxRetries: 1,
      fetch: watchedFetch,
    });
    current = { key, client };
  }
  return current.client;
}

/** Fetch that notices a refused key, so that the app asks for another one. */
const watch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.status === 401) keyRefused.set(true);
  return response;
};

/** Without `Response` the client would fetch a `data:` URL, which the page's policy forbids. */
const watchedFetch = Object.assign(watch, { Response });
