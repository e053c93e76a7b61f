import OpenAI from 'openai';
import { Stored } from '../stored';

/** The API key of this session: gone when the tab closes. */
export const apiKey = new Stored<string | null>('meganest-api-key', null, window.sessionStorage);

/** True while the gateway wants another key. */
export const keyRefused = new Stored<boolean>('meganest-key-refused', false, window.sessionStorage);

/** The address of the API, beside the page, under whatever prefix a proxy puts it. */
export const apiUrl = new URL('v1', new URL('.', document.baseURI)).href;

/** What the gateway says in an error. */
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

/** Headers that every call needs. */
export function authorization(): Record<string, string> {
  const key = apiKey.get();
  return key ? { authorization: `Bearer ${key}` } : {};
}

/** The error of an answer, in the words of the gateway where it has some. */
export function errorOf(status: number, text: string): ApiError {
  if (status === 401) keyRefused.set(true);
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string; code?: string } };
    if (error?.message) return new ApiError(error.message, status, error.code);
  } catch {
    // A proxy in between answers in its own words.
  }
  return new ApiError(`HTTP ${status}`, status);
}

/** Calls a path under `/v1` and reads its JSON. Errors: {@link ApiError}. */
export async function call<Answer>(path: string, body?: unknown, init: RequestInit = {}): Promise<Answer> {
  const hasBody = body !== undefined;
  const response = await fetch(apiUrl + path, {
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

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

let current: { key: string | null; client: OpenAI } | undefined;

/** The official client against this gateway, with the key of the session. */
export function openai(): OpenAI {
  const key = apiKey.get();
  if (current?.key !== key) {
    // The gateway without keys takes any; the client wants one.
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

/** A refused key is asked for again, whichever call it was. */
const watch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.status === 401) keyRefused.set(true);
  return response;
};

/** Without its `Response` the client would ask for a `data:` address, which the page's policy forbids. */
const watchedFetch = Object.assign(watch, { Response });
