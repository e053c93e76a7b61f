import { detectLanguage, type Language } from '#platform/foundation';
import { Injectable } from '@nestjs/common';

/** Passages of a search whose language is detected, and characters of each. */
const maxTexts = 5;
const maxCharacters = 400;
/** Scopes that are kept; the least recently searched one is dropped. */
const maxScopes = 1_000;
/** Share of the earlier searches that a further one leaves, so that new documents count. */
const decay = 0.8;
/** Passages before a language is known, and its share of them. */
const minPassages = 3;
const minShare = 0.2;
const englishNames = new Intl.DisplayNames('en', { type: 'language' });

/**
 * Learns the languages of documents from the passages that searches find. A scope is a mega service and a collection. The
 * languages are a hint for the queries of a language model, so each gateway learns them for itself.
 */
@Injectable()
export class DocumentLanguages {
  readonly #scopes = new Map<string, ReadonlyMap<Language, number>>();

  /** The English names of the languages, the most frequent one first; empty while they are not known. */
  namesOf(scope: string): string[] {
    const counts = [...(this.#scopes.get(scope) ?? [])];
    const all = counts.reduce((sum, [, count]) => sum + count, 0);
    if (all < minPassages) return [];
    return counts
      .filter(([, count]) => count >= minShare * all)
      .toSorted(([, left], [, right]) => right - left)
      .map(([language]) => englishNames.of(language) ?? language);
  }

  /** Counts the languages of found passages, best first. */
  learn(scope: string, texts: readonly string[]): void {
    const known = this.#scopes.get(scope) ?? new Map<Language, number>();
    const counts = new Map([...known].map(([language, count]) => [language, decay * count]));
    for (const text of texts.slice(0, maxTexts)) {
      const language = detectLanguage(text.slice(0, maxCharacters));
      if (language) counts.set(language, (counts.get(language) ?? 0) + 1);
    }
    this.#scopes.delete(scope);
    this.#scopes.set(scope, counts);
    const [oldest] = this.#scopes.keys();
    if (this.#scopes.size > maxScopes && oldest !== undefined) this.#scopes.delete(oldest);
  }
}
