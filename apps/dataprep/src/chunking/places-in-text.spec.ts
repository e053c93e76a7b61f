import { placeInFile } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { readMarkdown } from '../reading/read-markdown.js';
import { readPlainText } from '../reading/read-plain-text.js';
import { chunkDocument } from './chunk-document.js';
import { shiftPlaces, withPlaces } from './places-in-text.js';

const chunking = { chunkSize: 12, chunkOverlap: 4 };
const squeezed = (text: string) => text.replaceAll(/\s+/g, '');

/** The places of all sentences of all passages: the text of the file there, or null. */
function sentencesIn(text: string, read = readPlainText) {
  return withPlaces(text, chunkDocument(read(text), chunking)).flatMap((chunk) => {
    const metadata = { places: chunk.places };
    return [...chunk.text.matchAll(/\S[^.!?\n]*[.!?]?/g)].map(({ 0: sentence, index }) => {
      const place = placeInFile({ metadata }, { start: index, end: index + sentence.length });
      return { sentence, found: place && text.slice(place.start, place.end) };
    });
  });
}

describe('withPlaces', () => {
  it('finds each sentence of a wrapped and indented text, over passages that overlap', () => {
    const text = `The mill stands at the river\n   since 1740. Ann Lee built it.\r\n\r\n\r\nIt burned down twice.   The owner was\nTom Lee. He sold it\tto the town. Today it is a museum.\n\nIt is open on Sundays. It is open on Sundays.`;
    const sentences = sentencesIn(text);
    expect(sentences.length).toBeGreaterThan(7);
    for (const { sentence, found } of sentences) expect(squeezed(found ?? '')).toBe(squeezed(sentence));
    expect(sentences.at(-1)?.found).toBe('It is open on Sundays.');
  });

  it('does not know the place of a text with marks that the passage does not have', () => {
    const text =
      '# Mill\n\nAnn Lee **built** the old mill at the river Ouse.\n\nIt burned down twice in the years of the war.\n';
    expect(sentencesIn(text, readMarkdown)).toEqual([
      { sentence: 'Ann Lee built the old mill at the river Ouse.', found: null },
      {
        sentence: 'It burned down twice in the years of the war.',
        found: 'It burned down twice in the years of the war.',
      },
    ]);
  });

  it('leaves passages without a place as they are', () => {
    const chunks = [{ text: 'Name: mill', words: 2, headings: [] }];
    expect(withPlaces('name,year\nmill,1740', chunks)).toEqual(chunks);
  });

  it('shifts the places of a later section', () => {
    expect(shiftPlaces('0:5 20: 31:40', 100)).toBe('0:105 20: 31:140');
  });
});
