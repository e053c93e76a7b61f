import { describe, expect, it } from 'vitest';
import { answerInstruction, type AnswerCase } from './answer-instruction.js';

const usual: AnswerCase = {
  passages: 3,
  generalKnowledge: false,
  hasTools: false,
  form: 'text',
  language: 'en',
  now: new Date('2026-11-26T12:00:00Z'),
};
const told = (more: Partial<AnswerCase> = {}) => answerInstruction({ ...usual, ...more });
const refusal = 'I could not find the answer in the provided documents.';

describe('answerInstruction', () => {
  it('names the date, the sources, the citations, the refusal and the language', () => {
    const text = told();
    expect(text).toMatch(/^Today is Thursday, 2026-11-26\./);
    expect(text).toContain('from the numbered search results alone');
    expect(text).toContain('like [1]');
    expect(text).toContain(`say: ${refusal}`);
    expect(text).toContain('A greeting, thanks');
    expect(text).toContain('in the language of the question');
    expect(text).not.toContain('tools');
  });

  it('asks for the refusal and the answer in the language of the question', () => {
    const text = told({ language: 'de' });
    expect(text).toContain('say: Ich konnte die Antwort in den vorliegenden Dokumenten nicht finden.');
    expect(text).toMatch(/Antworte auf Deutsch\.$/);
    expect(told({ language: 'pl', noAnswer: 'No idea.' })).toContain('say: No idea.');
    expect(told({ language: undefined })).toMatch(/in the language of the question\.$/);
  });

  it.each<[string, Partial<AnswerCase>, RegExp, RegExp]>([
    ['nothing found', { passages: 0 }, /found nothing.*say: I could not/, /Cite|numbered/],
    [
      'general knowledge',
      { generalKnowledge: true },
      /general knowledge; then say first/,
      /say: I could| alone/,
    ],
    [
      'general knowledge, nothing found',
      { generalKnowledge: true, passages: 0 },
      /general knowledge/,
      /say: I/,
    ],
    ['tools', { hasTools: true }, /call tools, and answer from their results.*tools do not help/, /^$/],
    ['tools, nothing found', { hasTools: true, passages: 0 }, /call tools.*say: I could not/, /Cite/],
    ['JSON', { form: 'json' }, /null or an empty value.*no citation numbers/, /Cite|say: I/],
    ['JSON, nothing found', { form: 'json', passages: 0 }, /null or an empty value/, /Cite|say: I/],
    ['a choice', { form: 'raw' }, /numbered search results/, /Cite|say: I|language/],
  ])('differs for %s', (_name, more, expected, unwanted) => {
    expect(told(more)).toMatch(expected);
    expect(told(more)).not.toMatch(unwanted);
  });
});
