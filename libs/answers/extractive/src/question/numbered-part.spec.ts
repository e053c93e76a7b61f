import { expect, it } from 'vitest';
import { namedPart } from './numbered-part.js';

it.each([
  ['What does section 6 say?', 'Section 6. Water', true],
  ['What does section 6 say?', 'Section 16. Fees', false],
  ['What does section 6 say?', '6. Water', true],
  ['What does section 6 say?', 'Step 6', false],
  ['What is new in version 4.2.0?', '4.2.0 (2026-05-11)', true],
  ['What is new in version 4.2?', '4.2.0 (2026-05-11)', false],
  ['What is new in 4.2.0?', '4.2.0 (2026-05-11)', true],
  ['What is new in v4.2?', '4.2 – May', true],
  ['Was steht in § 5?', '§ 5 Beitrag', true],
])('%s %s', (question, heading, is) => {
  expect(namedPart(question)?.(['Title', heading])).toBe(is);
});

it('knows questions that name none', () => {
  expect(namedPart('How many sections are there?')).toBeUndefined();
  expect(namedPart('Does it cost 4.20 euros on 12.05.2026?')).toBeUndefined();
});
