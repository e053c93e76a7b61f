import { describe, expect, it } from 'vitest';
import { matchDocumentName } from './document-names.js';

const documents = [
  { id: '1', filename: 'policies/travel-policy.md', title: 'How we travel' },
  { id: '2', filename: 'handbook.md', title: 'Employee handbook' },
  { id: '3', filename: 'works-meeting-2025.md' },
  { id: '4', filename: 'works-meeting-2026.md' },
  { id: '5', filename: 'meeting.md' },
  { id: '6', filename: 'Vertrag_Müller.pdf' },
];
const match = (name: string) => {
  const found = matchDocumentName(name, documents);
  return found.kind === 'one' ? found.document.id : [found.kind, ...found.documents.map(({ id }) => id)];
};

describe('matchDocumentName', () => {
  it.each([
    ['policies/travel-policy.md', '1'],
    ['travel-policy.md', '1'],
    ['Travel Policy', '1'],
    ['travel policies', '1'],
    ['how we travel', '1'],
    ['the employee handbook', '2'],
    ['works meeting of 2026', '4'],
    ['meeting', '5'],
    ['vertrag müller', '6'],
    ['handbok', '2'],
  ])('finds %s', (name, id) => {
    expect(match(name)).toBe(id);
  });

  it('knows several documents of a name, and the nearest ones for an unknown name', () => {
    expect(match('works meeting')).toEqual(['several', '3', '4']);
    expect(match('works meeting 2024')).toEqual(['none', '3', '4', '5']);
    const [only] = [documents[2]!].map((document) => matchDocumentName('works meeting 2024', [document]));
    expect(only?.kind).toBe('none');
    expect(match('quantum physics')).toEqual(['none']);
  });
});
