import OpenAI from 'openai';
import { apiKey, apiUrl, keyRefused } from './connection';

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
