import { describe, expect, it } from 'vitest';
import { compileRules } from './compile-rules.js';
import { judgeText } from './judge-text.js';

const { rules } = compileRules(`
rules:
  - { id: curse, description: bad words, action: flag, phrases: [drat it] }
  - { id: secret, description: the secret plan, action: block, phrases: [plan nine], message: Not that. }
  - { id: card, description: cards, action: redact, checksum: luhn, patterns: ['\\b\\d(?:[ -]?\\d){12,18}\\b'] }
  - { id: number, description: numbers, action: redact, replacement: '#', patterns: ['\\d{4}'] }
  - { id: off, description: off, action: block, enabled: false, patterns: [.] }
`);

describe('judgeText', () => {
  it('lets pass what no rule speaks of', async () => {
    const text = 'What does MegaNest do?';
    expect(await judgeText(text, rules)).toEqual({ action: 'pass', text, findings: [] });
  });

  it('flags and leaves the text as it is', async () => {
    expect(await judgeText('Drat  it!', rules)).toMatchObject({ action: 'flag', text: 'Drat  it!' });
    expect(await judgeText('hydrate it', rules)).toMatchObject({ action: 'pass' });
  });

  it('blocks, also behind a disguise, and does not show the text', async () => {
    for (const text of ['the Plan\nNine is', 'pl\u200Ban nine', 'ｐｌａｎ ｎｉｎｅ']) {
      const judgement = await judgeText(text, rules);
      expect(judgement).toMatchObject({ action: 'block', text: '', message: 'Not that.' });
      expect(judgement.findings).toEqual([
        { rule: 'secret', description: 'the secret plan', action: 'block' },
      ]);
    }
  });

  it('redacts where it stands; of two that overlap the longer one', async () => {
    const text = 'Card 4111 1111 1111 1111, room 1234.';
    const judgement = await judgeText(text, rules);
    expect(judgement).toMatchObject({ action: 'redact', text: 'Card [card], room #.' });
    expect(judgement.findings.map(({ start, end }) => text.slice(start, end))).toEqual([
      '4111 1111 1111 1111',
      '1234',
    ]);
  });

  it('takes a number that fails its check digit for no card', async () => {
    const { text } = await judgeText('4111111111111112', rules.slice(2, 3));
    expect(text).toBe('4111111111111112');
  });

  it('takes linear time where a backtracking matcher would never end', async () => {
    const evil = compileRules(
      "rules: [{ id: evil, description: evil, action: block, patterns: ['(a+)+b'] }]",
    );
    const begun = performance.now();
    expect((await judgeText('a'.repeat(100_000), evil.rules)).action).toBe('pass');
    // A backtracking engine takes longer than the age of the universe; this leaves room for any machine.
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});
