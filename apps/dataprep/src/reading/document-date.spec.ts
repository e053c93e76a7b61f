import { describe, expect, it } from 'vitest';
import { documentDate } from './document-date.js';

describe('documentDate', () => {
  it('is the day of the first field that has one', () => {
    expect(
      documentDate([
        ['lastmod', '2025-03-01'],
        ['Date', '2024-06-30T08:00:00Z'],
      ]),
    ).toBe('2024-06-30');
    expect(
      documentDate([
        ['date', ''],
        ['article:modified_time', '2025-03-01 10:00:00 +0200'],
      ]),
    ).toBe('2025-03-01');
    expect(documentDate([['date', '2025-03']])).toBe('2025-03');
  });

  it('is the text of a field in another form', () => {
    expect(documentDate([['published', '3. Mai 2021']])).toBe('3. Mai 2021');
  });

  it('is undefined without a year, and for a long text', () => {
    expect(
      documentDate([
        ['date', 'yesterday'],
        ['author', 'A. B. 2020'],
      ]),
    ).toBeUndefined();
    expect(documentDate([['date', `2020 ${'and more '.repeat(9)}`]])).toBeUndefined();
  });
});
