import { describe, expect, it } from 'vitest';
import { ExtractiveWriter, questionOf, rankByCentrality, rankInGroups } from './extractive-writer.js';
import { writeFaqOf } from './writing.service.js';

const unit = (x: number, y: number) => {
  const length = Math.hypot(x, y);
  return Float32Array.of(x / length, y / length);
};

describe('rankByCentrality', () => {
  it('takes what is most alike to all, and no repetition of it next', () => {
    // Three about one thing, the second of them nearly the first; one about another.
    expect(rankByCentrality([unit(1, 0), unit(1, 0.001), unit(0.8, 0.6), unit(0, 1)])[0]).not.toBe(3);
    expect(rankByCentrality([unit(1, 0), unit(1, 0), unit(0.6, 0.8)])).toEqual([0, 2, 1]);
  });

  it('gives each once', () => {
    const vectors = Array.from({ length: 30 }, (_unused, index) => unit(Math.cos(index), Math.sin(index)));
    expect(rankByCentrality(vectors).toSorted((a, b) => a - b)).toEqual([...vectors.keys()]);
    expect(rankByCentrality([])).toEqual([]);
  });
});

describe('rankInGroups', () => {
  const signal = new AbortController().signal;

  it('is the order of all where they are few', async () => {
    const vectors = Array.from({ length: 30 }, (_unused, index) => unit(Math.cos(index), Math.sin(index)));
    expect(await rankInGroups(vectors, signal)).toEqual(rankByCentrality(vectors));
  });

  it('ranks many sentences without holding the event loop, and stops with its request', async () => {
    const vectors = Array.from({ length: 6_000 }, (_unused, index) => {
      const vector = new Float32Array(256);
      vector[index % 256] = 1;
      return vector;
    });
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    const ranked = await rankInGroups(vectors, signal);
    clearInterval(timer);
    expect(new Set(ranked).size).toBe(ranked.length);
    expect(ranked.length).toBeGreaterThan(100);
    expect(turns).toBeGreaterThan(10);
    const leaving = AbortSignal.abort(new Error('left'));
    await expect(rankInGroups(vectors, leaving)).rejects.toThrow('left');
  });
});

describe('questionOf', () => {
  it.each([
    ['A mega service is a graph of services.', 'What is a mega service?'],
    ['To back up MegaNest, stop it and copy this directory.', 'How do I back up MegaNest?'],
    ['If the level falls, the turbine is stopped.', 'What happens when the level falls?'],
    ['Visitors must wear a helmet.', 'What must Visitors do?'],
  ])('asks for "%s"', (sentence, question) => {
    expect(questionOf(sentence)).toBe(question);
  });

  it.each([
    ['It is a graph.', 'leans on what came before'],
    ['Two that fit equally are an error.', 'has no clear subject'],
    ['Installation', 'is no sentence'],
    ['Rain fell for days.', 'has no form that is known'],
  ])('asks nothing for "%s": it %s', (sentence) => {
    expect(questionOf(sentence)).toBeUndefined();
  });
});

describe('ExtractiveWriter', () => {
  const embed = (texts: string[]) =>
    Promise.resolve({ vectors: texts.map((_text, index) => unit(1, index)), promptTokens: texts.length });
  const { signal } = new AbortController();
  const text =
    'Introduction\n\nThe dam is a wall of stone and earth. It is old. To see it, write to the operator first. ' +
    'The water of the lake is used for drinking. Visitors must bring good shoes and a coat.';

  async function write(writer: ExtractiveWriter) {
    let written = '';
    for await (const chunk of writer.write({ kind: 'summary', text }, signal)) written += chunk.text;
    return written;
  }

  it('chooses whole sentences in the order of the text, within the length that is asked for', async () => {
    const summary = await write(new ExtractiveWriter(embed));
    expect(summary).not.toContain('Introduction');
    expect(summary).not.toContain('It is old');
    expect(summary.startsWith('The dam is a wall')).toBe(true);
    const short = await write(new ExtractiveWriter(embed, 20));
    expect(short.split(' ').length).toBeLessThanOrEqual(15);
  });

  it('answers the questions that the sentences make, and says nothing where there are none', async () => {
    const faq = async (of: string, count: number) => {
      let written = '';
      for await (const chunk of writeFaqOf({ text: of, count }, new ExtractiveWriter(embed), signal))
        written += chunk.text;
      return written;
    };
    const pairs = (await faq(text, 2)).split('\n\n');
    expect(pairs).toHaveLength(2);
    for (const pair of pairs) expect(pair).toMatch(/^Q: .+\?\nA: .+\.$/);
    expect(await faq('Rain fell.', 3)).toBe('');
  });
});
