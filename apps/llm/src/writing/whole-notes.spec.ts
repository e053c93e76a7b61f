import type { GenerationChunk, RetrievedDocument } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import type { GenerateRequest } from '../tools/tool-format.js';
import { fitsWhole, takeNotes } from './whole-notes.js';

const documents = ['a.md', 'b.md'].flatMap((file) =>
  Array.from({ length: 10 }, (_unused, index): RetrievedDocument => {
    const text = `Passage ${index} of ${file}. ${'The office is open. '.repeat(10)}`;
    return { id: `${file}-${index}`, text, score: 1, metadata: { document_id: file, filename: file } };
  }),
);
const messages = [{ role: 'user' as const, content: 'Compare a.md and b.md' }];

async function notesOf(maxInputTokens: number) {
  const asked: string[] = [];
  const model = {
    maxInputTokens,
    limitsItself: true,
    withoutThinking: { chat_template_kwargs: { enable_thinking: false } },
    async *generate(request: GenerateRequest): AsyncGenerator<GenerationChunk> {
      await Promise.resolve();
      asked.push(request.messages[0]!.content);
      expect(request.chat_template_kwargs).toEqual({ enable_thinking: false });
      const usage = { promptTokens: 10, completionTokens: 1, cachedTokens: 0 };
      yield { choice: 0, text: `Note ${asked.length}.`, finishReason: 'stop', usage };
    },
  };
  const steps = takeNotes({ documents, messages }, model, new AbortController().signal);
  let step = await steps.next();
  for (; !step.done; step = await steps.next()) expect(step.value.text).toBe('');
  return { asked, ...step.value };
}

describe('takeNotes', () => {
  it('reads every passage in parts that fit, and keeps the passages of each part', async () => {
    const { asked, notes, usage } = await notesOf(1_000);
    expect(notes.flatMap(({ passages }) => passages.map(({ id }) => id))).toEqual(
      documents.map(({ id }) => id),
    );
    const unread = documents.filter(({ text }) => !asked.some((prompt) => prompt.includes(text)));
    expect(unread).toEqual([]);
    for (const prompt of asked) {
      expect(prompt).toContain('Request: Compare a.md and b.md');
      expect(prompt.length / 4).toBeLessThan(1_000);
    }
    const files = notes.map(({ label }) => label.split(',')[0]);
    expect(new Set(files)).toEqual(new Set(['a.md', 'b.md']));
    expect(notes[0]?.label).toMatch(/^a\.md, part 1 of \d$/);
    expect(usage.add({ promptTokens: 0, completionTokens: 0, cachedTokens: 0 }).promptTokens).toBe(
      10 * asked.length,
    );
  });

  it('is not needed where one prompt has room', () => {
    expect(fitsWhole(documents, { maxInputTokens: 8_192 })).toBe(true);
    expect(fitsWhole(documents, { maxInputTokens: 1_000 })).toBe(false);
  });
});
