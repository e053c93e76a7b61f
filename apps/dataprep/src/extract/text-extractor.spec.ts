import { describe, expect, it } from 'vitest';
import { textOfBlocks } from './text-extractor.js';

describe('textOfBlocks', () => {
  it('parts paragraphs by blank lines and keeps lists and tables together', () => {
    const text = textOfBlocks([
      { kind: 'heading', level: 1, text: 'Dams' },
      { kind: 'paragraph', text: 'Two were built.' },
      { kind: 'list-item', text: 'Oker' },
      { kind: 'list-item', text: 'Grane' },
      { kind: 'table-row', text: 'Year: 1956' },
      { kind: 'table-row', text: 'Year: 1969' },
    ]);
    expect(text).toBe('Dams\n\nTwo were built.\n\n- Oker\n- Grane\n\nYear: 1956\nYear: 1969');
  });

  it('has nothing to say of no blocks', () => {
    expect(textOfBlocks([])).toBe('');
  });
});
