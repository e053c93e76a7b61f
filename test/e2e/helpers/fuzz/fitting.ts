import type { OpenApiDocument } from '#platform/service-kit';
import { pcmWav } from '#platform/foundation';
import type { Random } from './random.js';
import { operationsOf, type Operation } from './requests.js';
import { sample } from './sample.js';

/** An answer to a request that fits its operation. */
export interface FittingAnswer {
  operation: string;
  status: number;
  retryAfter: string | null;
  text: string;
}

const silence = pcmWav(new Int16Array(800), 8_000);

/** Sends `times` requests to each operation of a document, as the document describes them, a few at a time. */
export async function askAllOperations(
  url: string,
  { document, random, times }: { document: OpenApiDocument; random: Random; times: number },
): Promise<FittingAnswer[]> {
  const queue = Array.from({ length: times }, () => operationsOf(document)).flat();
  const answers: FittingAnswer[] = [];
  const work = async () => {
    for (let operation = queue.pop(); operation; operation = queue.pop())
      answers.push(await ask(url, operation, requestOf(operation, document, random)));
  };
  await Promise.all(Array.from({ length: 16 }, work));
  return answers;
}

async function ask(url: string, { method, path }: Operation, init: RequestInit): Promise<FittingAnswer> {
  const place = path.replaceAll(/\{\w+\}/g, 'resp_unknown');
  const answer = await fetch(url + place, { method, ...init, signal: AbortSignal.timeout(60_000) });
  const { status, headers } = answer;
  const text = await answer.text();
  return { operation: `${method} ${path}`, status, retryAfter: headers.get('retry-after'), text };
}

function requestOf({ method, path, body, form }: Operation, document: OpenApiDocument, random: Random) {
  if (method === 'GET') return {};
  const { schemas } = document.components;
  if (body) {
    const value = JSON.stringify(sample(body, schemas, random));
    return { headers: { 'content-type': 'application/json' }, body: value };
  }
  if (!form) return {};
  const parts = new FormData();
  for (const [name, value] of Object.entries(sample(form, schemas, random) as object))
    if (!/^(files?|audio)/.test(name))
      parts.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  const isAudio = /audio|asr/.test(path);
  const file = isAudio ? new Blob([new Uint8Array(silence)]) : new Blob(['MegaNest speaks over NATS.']);
  parts.append(/dataprep/.test(path) ? 'files' : 'file', file, isAudio ? 'a.wav' : 'a.txt');
  return { body: parts };
}
