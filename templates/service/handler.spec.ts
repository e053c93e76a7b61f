import { expect, it } from 'vitest';
import { KeywordFilterController } from './handler.js';

it('keeps the documents that contain the word', () => {
  const documents = ['a boat', 'a car'].map((text, index) => ({
    id: `${index}`,
    text,
    score: 1,
    metadata: {},
  }));
  const request = { query: '', messages: [], inputs: { documents }, parameters: { word: 'boat' } };
  const reply = new KeywordFilterController().run(request);
  expect(reply).toEqual({ output: [documents[0]], report: { dropped: 1 } });
});
