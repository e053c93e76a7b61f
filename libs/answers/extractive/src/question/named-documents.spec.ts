import { describe, expect, it } from 'vitest';
import { namedDocuments } from './named-documents.js';
import { readPassages } from '../sentence.js';

const passage = (filename: string, title: string) => ({
  id: filename,
  text: 'Store it below 25 °C.',
  score: 1,
  metadata: { filename, title },
});
const leaflets = readPassages([
  passage('leaflet-dermaquell.html', 'Package leaflet: Dermaquell cream'),
  passage('leaflet-velodrine.html', 'Package leaflet: Velodrine tablets'),
  passage('leaflet-velodrine.html', 'Package leaflet: Velodrine tablets'),
]);
const named = (question: string) => [...namedDocuments(question, leaflets)];

describe('namedDocuments', () => {
  it('finds the document whose title or file name the question has', () => {
    expect(named('How do I store velodrine?')).toEqual(['leaflet-velodrine']);
    expect(named('And the cream?')).toEqual(['leaflet-dermaquell']);
  });

  it('finds none by words that all documents have in their names, and none if all are named', () => {
    expect(named('What does the package leaflet say?')).toEqual([]);
    expect(named('Which is older, Dermaquell or Velodrine?')).toEqual([]);
    expect(named('How is it stored?')).toEqual([]);
  });

  it('finds none in a single document', () => {
    expect([...namedDocuments('Dermaquell?', leaflets.slice(0, 1))]).toEqual([]);
  });
});
