/** Requests to the tested installation. */
import { setTimeout as delay } from 'node:timers/promises';
import { stopping } from './docker.mjs';

/** Aborts after the time, and when the test is stopped. */
const limit = (timeoutMs) => AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutMs)]);

/** Polls `act` until it returns a value other than undefined. Errors: the last one of `act`, after `timeoutMs`. */
export async function poll(what, act, timeoutMs = 90_000) {
  const giveUpAt = performance.now() + timeoutMs;
  let last;
  for (;;) {
    stopping.signal.throwIfAborted();
    try {
      const value = await act();
      if (value !== undefined) return value;
    } catch (error) {
      last = error;
    }
    if (performance.now() > giveUpAt)
      throw new Error(`${what}: not within ${timeoutMs / 1_000} s`, { cause: last });
    await delay(250);
  }
}

/** A client of the gateway at `url`. */
export function makeClient(url) {
  const post = (path, body, { headers = {}, timeoutMs = 60_000 } = {}) =>
    fetch(`${url}${path}`, { method: 'POST', body, headers, signal: limit(timeoutMs) });
  const postJson = (path, body) =>
    post(path, JSON.stringify(body), { headers: { 'content-type': 'application/json' } });

  async function expectOk(response) {
    if (response.ok) return response;
    throw new Error(`${response.url} answered ${response.status}: ${(await response.text()).slice(0, 500)}`);
  }

  /** Asks the documents; resolves with the message of the answer. */
  async function ask(question) {
    const response = await expectOk(
      await postJson('/v1/chat/completions', { messages: [{ role: 'user', content: question }] }),
    );
    return (await response.json()).choices[0].message;
  }

  /** Asks as clients of OpenAI do: again after a 503 or a lost connection. Resolves with the number of tries. */
  async function askPatiently(question) {
    for (let tries = 1; ; tries += 1) {
      try {
        await ask(question);
        return tries;
      } catch (error) {
        // A gateway needs several seconds to start on a busy machine.
        if (tries === 30) throw error;
        await delay(1_000);
      }
    }
  }

  /**
   * Streams an answer of the language model. Resolves when its first token has arrived: `begunAt`, and `ended`, which
   * resolves with `endedAt`, and `isWhole`: with [DONE] and without an error. Errors: the answer is refused.
   */
  async function stream(prompt) {
    const response = await expectOk(
      await postJson('/v1/chat/completions', {
        model: 'nano-chat',
        messages: [{ role: 'user', content: prompt }],
        stream: true,
        max_tokens: 300,
      }),
    );
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const readMore = async () => {
      const { value, done } = await reader.read();
      text += value ?? '';
      return !done;
    };
    while (!/"content":"[^"]/.test(text) && (await readMore()));
    const readToEnd = async () => {
      while (await readMore());
      return { isWhole: text.includes('data: [DONE]') && !text.includes('"error"'), endedAt: Date.now() };
    };
    return { begunAt: Date.now(), ended: readToEnd() };
  }

  async function ingest(name, text) {
    const form = new FormData();
    form.append('files', new Blob([text], { type: 'text/plain' }), name);
    await expectOk(await post('/v1/dataprep/ingest', form, { timeoutMs: 120_000 }));
  }

  /** Speech of the text, as WAV. */
  async function speak(text) {
    const response = await expectOk(
      await postJson('/v1/audio/speech', { input: text, response_format: 'wav' }),
    );
    return Buffer.from(await response.arrayBuffer());
  }

  async function transcribe(audio) {
    const form = new FormData();
    form.append('file', new Blob([audio], { type: 'audio/wav' }), 'speech.wav');
    const response = await expectOk(await post('/v1/audio/transcriptions', form));
    return (await response.json()).text;
  }

  const getJson = async (path) =>
    (await expectOk(await fetch(`${url}${path}`, { signal: limit(30_000) }))).json();

  return { ask, askPatiently, stream, ingest, speak, transcribe, getJson, postJson };
}
