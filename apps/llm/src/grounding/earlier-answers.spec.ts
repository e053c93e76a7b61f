import { expect, it } from 'vitest';
import { withoutMarkers } from './earlier-answers.js';

it.each([
  ['It opens at 8 [1]. It closes at 7. [2][3]', 'It opens at 8. It closes at 7.'],
  ['It opens at 8 [1] [2], and:\n\n- one [3]', 'It opens at 8, and:\n\n- one'],
  ['Use `a[1]`:\n\n```\nb[2]\n```\nDone [1].', 'Use `a[1]`:\n\n```\nb[2]\n```\nDone.'],
  ['See [1](https://a.example), [2024] and [x].', 'See [1](https://a.example), [2024] and [x].'],
])('withoutMarkers(%s)', (content, expected) => {
  expect(withoutMarkers({ role: 'assistant', content }).content).toBe(expected);
  expect(withoutMarkers({ role: 'user', content }).content).toBe(content);
});
