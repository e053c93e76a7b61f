import { describe, expect, it } from 'vitest';
import { promptAround } from './local-codec.js';

const having = (...marks: string[]) => promptAround((mark) => marks.includes(mark), 'def f(', '  return x');

describe('promptAround', () => {
  it.each([
    [
      ['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>'],
      '<|fim_prefix|>def f(<|fim_suffix|>  return x<|fim_middle|>',
    ],
    [
      ['<fim_prefix>', '<fim_suffix>', '<fim_middle>'],
      '<fim_prefix>def f(<fim_suffix>  return x<fim_middle>',
    ],
    [['[PREFIX]', '[SUFFIX]'], '[SUFFIX]  return x[PREFIX]def f('],
  ])('writes the prompt with the marks %s', (marks, prompt) => {
    expect(having(...marks)).toBe(prompt);
  });

  it('has no prompt for a model without the marks', () => {
    expect(having('<|fim_prefix|>')).toBeUndefined();
  });
});
