import { describe, expect, it } from 'vitest';
import { mentionedIn } from './listing-question.js';

describe('mentionedIn', () => {
  it.each([
    ['Which documents mention Ada Quill?', 'Ada Quill'],
    ['which files are about the mill', 'mill'],
    ['What documents talk about "night work"?', 'night work'],
    ['List all documents that mention the canal.', 'canal'],
    ['Show me the files about refunds', 'refunds'],
    ['In which documents is the canal mentioned?', 'canal'],
    ['Welche Dokumente erwähnen die Mühle?', 'Mühle'],
    ['In welchen Dokumenten wird der Kanal erwähnt?', 'Kanal'],
  ])('%s', (question, topic) => {
    expect(mentionedIn(question)).toBe(topic);
  });

  it.each([
    'Which documents do I need for the visa?',
    'What does the report say about the mill?',
    'Where is the mill?',
    'Which pages are printed?',
  ])('nothing: %s', (question) => {
    expect(mentionedIn(question)).toBeUndefined();
  });
});
