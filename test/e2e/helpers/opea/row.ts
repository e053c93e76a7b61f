import type { ServiceName } from '#platform/testing';
import { expect } from 'vitest';

export const question = 'What does the Zembla ferry run on?';
export const passages = ['The Zembla ferry runs on plum juice.', 'Bread is made of flour.'];
export const text = expect.any(String) as string;
export const number = expect.any(Number) as number;
export const completion = {
  object: 'chat.completion',
  choices: [{ message: { role: 'assistant', content: text }, finish_reason: text }],
  usage: { prompt_tokens: number, completion_tokens: number, total_tokens: number },
};
export const vector = expect.arrayContaining([number]) as number[];

export interface Row {
  service: ServiceName;
  path: string;
  /** Which dialect, or what is wrong. */
  form: string;
  /** GET where it is absent, unless `method` says. */
  body?: unknown;
  method?: string;
  status?: number;
  answer: unknown;
}

export const error = (param: string | null, code = 'invalid_request') => ({
  error: { message: text, type: text, param, code },
});
export const wrongMethod = { error: { code: 'method_not_allowed' } };
export const embeddings = {
  object: 'list',
  data: [{ embedding: vector }],
  model: text,
  usage: { prompt_tokens: number },
};
