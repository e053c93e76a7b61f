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
