import { describe, expect, it } from 'vitest';
import { asksForSummary } from './summary-question.js';

describe('asksForSummary', () => {
  it.each([
    '',
    '?',
    '…',
    'What is in this file?',
    "what's in this?",
    'What is this?',
    'What is this document about?',
    'What are these files about?',
    'What does the attached PDF say?',
    'Summarize this',
    'Please summarise the document.',
    'Can you summarize it for me?',
    'Could you please give me a short summary of the attached file?',
    'TL;DR',
    'Describe this file',
    'Explain the document briefly.',
    'Was steht in dieser Datei?',
    'Worum geht es in dem Dokument?',
    'Fasse das Dokument zusammen.',
    'Fass mir bitte die Datei kurz zusammen',
    'Kannst du das zusammenfassen?',
    'Eine kurze Zusammenfassung bitte!',
  ])('is true for %j', (question) => {
    expect(asksForSummary(question)).toBe(true);
  });

  it.each([
    'What is the total?',
    'What is in the hall?',
    'What is this engine made of?',
    'Summarize the section about ferries',
    'What does the file say about ferries?',
    'Who wrote this document?',
    '税',
    'Was steht in § 3 der Satzung?',
    'Wer hat das Dokument geschrieben?',
  ])('is false for %j', (question) => {
    expect(asksForSummary(question)).toBe(false);
  });
});
