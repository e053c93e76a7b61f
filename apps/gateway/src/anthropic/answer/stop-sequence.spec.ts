import { describe, expect, it } from 'vitest';
import { StopSequenceFilter } from './stop-sequence.js';

function read(sequences: string[], ...pieces: string[]) {
  const filter = new StopSequenceFilter(sequences);
  const shown = pieces.map((piece) => filter.take(piece));
  const { text, sequence } = filter.end();
  return { shown, text: [...shown, text].join(''), sequence };
}

describe('StopSequenceFilter', () => {
  it('takes out the sequence that ended the text', () => {
    expect(read(['END'], 'one E', 'N', 'D')).toEqual({
      shown: ['one ', '', ''],
      text: 'one ',
      sequence: 'END',
    });
  });

  it('shows text that was not a sequence after all', () => {
    expect(read(['END'], 'EN', 'TRY')).toMatchObject({ text: 'ENTRY', sequence: null });
    expect(read(['END'], 'the EN')).toMatchObject({ shown: ['the '], text: 'the EN', sequence: null });
  });

  it('knows several sequences, one of them within another one', () => {
    expect(read(['\n\nHuman:', '\n'], 'a\n')).toMatchObject({ text: 'a', sequence: '\n' });
    expect(read(['\n\nHuman:', '\n'], 'a\n\nHu', 'man:')).toMatchObject({
      text: 'a',
      sequence: '\n\nHuman:',
    });
  });

  it('changes nothing without sequences', () => {
    expect(read([], 'a', 'b')).toEqual({ shown: ['a', 'b'], text: 'ab', sequence: null });
  });
});
