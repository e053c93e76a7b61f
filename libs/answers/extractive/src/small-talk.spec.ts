import { describe, expect, it } from 'vitest';
import { answerSmallTalk } from './small-talk.js';

describe('answerSmallTalk', () => {
  const shelves = (...sizes: number[]) =>
    Promise.resolve(sizes.map((documents, index) => ({ name: `c${index + 1}`, documents })));

  it('names no collection', async () => {
    expect(await answerSmallTalk('Hello', () => shelves(8, 2))).toBe('Hello! Ask me about your documents.');
    expect(await answerSmallTalk('What can you do?', () => shelves(1, 2))).not.toMatch(/c1|c2|\d/);
  });

  it('says so where there are none, and where it cannot know', async () => {
    expect(await answerSmallTalk('hi', () => shelves())).toContain('no documents yet');
    expect(await answerSmallTalk('hi', () => Promise.resolve(undefined))).toBe(
      'Hello! Ask me about your documents.',
    );
  });

  it('answers briefly what is not a question', async () => {
    expect(await answerSmallTalk('ok', () => shelves(1))).toMatch(/^Good/);
    expect(await answerSmallTalk('You are wrong', () => shelves(1))).toContain('what the documents say');
    expect(await answerSmallTalk('Can you help me?', () => shelves(1))).toBe(
      'Yes, gladly. Ask me about your documents.',
    );
  });

  it('answers in German', async () => {
    expect(await answerSmallTalk('Guten Morgen!', () => shelves(1))).toBe(
      'Hallo! Fragen Sie mich nach Ihren Dokumenten.',
    );
    expect(await answerSmallTalk('Vielen Dank', () => shelves(1))).toBe('Gern geschehen.');
  });

  it('answers nothing else', async () => {
    expect(await answerSmallTalk('When is tea?', () => shelves(1))).toBeUndefined();
  });
});
