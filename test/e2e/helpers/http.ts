/** An answer with its body parsed. */
export interface JsonAnswer {
  status: number;
  body: unknown;
  headers: Headers;
}

export async function postJson(
  url: string,
  payload: unknown,
  headers: Record<string, string> = {},
): Promise<JsonAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(payload),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text ? (JSON.parse(text) as unknown) : undefined,
  };
}

/** The answer of the instance that knows: what one process keeps in its memory, the others do not have. */
export async function fetchOfAny(
  instances: readonly string[],
  path: string,
  init?: RequestInit,
): Promise<Response> {
  let answer = await fetch(instances[0] + path, init);
  for (const instance of instances.slice(1))
    if (answer.status === 404) answer = await fetch(instance + path, init);
  return answer;
}
