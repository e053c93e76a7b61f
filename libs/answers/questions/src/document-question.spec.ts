import { describe, expect, it } from 'vitest';
import { documentQuestionOf } from './document-question.js';

describe('documentQuestionOf', () => {
  it.each<[string, string, boolean]>([
    ['Summarize handbook.md', 'handbook.md', true],
    ['summarise the employee handbook please', 'employee handbook', false],
    ['Can you summarize the document "Travel policy" in three sentences?', 'Travel policy', true],
    ['Give me a short summary of the minutes of May 2026.', 'minutes of May 2026', false],
    ['TL;DR of notes/2026-05.md', 'notes/2026-05.md', true],
    ['What is the Kingfisher manual about?', 'Kingfisher manual', false],
    ['What does the file budget.xlsx contain?', 'budget.xlsx', true],
    ['Fasse das Dokument Reiserichtlinie zusammen', 'Reiserichtlinie', true],
    ['Kannst du mir bitte die Hausordnung zusammenfassen?', 'Hausordnung', false],
    ['What is in budget.xlsx?', 'budget.xlsx', true],
    ["What's in the travel policy?", 'travel policy', false],
    ['Worum geht es in vertrag.pdf?', 'vertrag.pdf', true],
    ['Zusammenfassung von Protokoll Mai', 'Protokoll Mai', false],
    ['Résume le document contrat', 'contrat', true],
    ['Resumen de politica.md', 'politica.md', true],
  ])('finds the name in %s', (question, text, isExplicit) => {
    expect(documentQuestionOf(question)).toMatchObject({ kind: 'summary', names: [{ text, isExplicit }] });
  });

  it('knows a question that may be about a topic, and a part of a document', () => {
    expect(documentQuestionOf('What is Kubernetes about?')).toMatchObject({ isLoose: true });
    expect(documentQuestionOf('Summarize Kubernetes')).toMatchObject({ isLoose: false });
    expect(documentQuestionOf('Summarize chapter 3 of handbook.md')?.names[0]?.isExplicit).toBe(false);
  });

  it.each<[string, string, string]>([
    ['What changed between terms-2025.md and terms-2026.md?', 'terms-2025.md', 'terms-2026.md'],
    ['What are the differences between the old policy and the new policy?', 'old policy', 'new policy'],
    ['Compare price list 2025 with price list 2026', 'price list 2025', 'price list 2026'],
    ['How does plan A differ from plan B?', 'plan A', 'plan B'],
    ['Was hat sich zwischen AGB 2025 und AGB 2026 geändert?', 'AGB 2025', 'AGB 2026'],
    ['Unterschiede zwischen a.txt und b.txt', 'a.txt', 'b.txt'],
  ])('finds both names in %s', (question, first, second) => {
    const found = documentQuestionOf(question);
    expect(found?.kind).toBe('comparison');
    expect(found?.names.map(({ text }) => text)).toEqual([first, second]);
  });

  it.each([
    'Summarize this',
    'Summarize our conversation',
    'What is in this file?',
    'What is in the document?',
    'When does the office open?',
    'How do I summarize a text?',
    'What changed?',
    'Who wrote the summary of the report?',
  ])('finds nothing in %s', (question) => {
    expect(documentQuestionOf(question)).toBeUndefined();
  });
});
