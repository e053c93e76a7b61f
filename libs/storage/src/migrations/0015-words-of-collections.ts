import type { StorageMigration } from './storage-migration.js';

/**
 * How many chunks of a large collection have each word, counted in the background. A search then knows the rare words of a query
 * without reading the chunks that have the common ones.
 */
export const wordsOfCollections: StorageMigration = {
  name: '0015-words-of-collections',
  up: (builder) => {
    builder.sql(`
      CREATE TABLE word_counts (
        collection text PRIMARY KEY,
        counted_to bigint NOT NULL,
        chunks bigint NOT NULL,
        lexemes bigint NOT NULL
      )`);
    builder.sql(`
      CREATE TABLE counted_words (
        collection text NOT NULL REFERENCES word_counts (collection) ON DELETE CASCADE,
        lexeme text NOT NULL,
        chunks bigint NOT NULL,
        PRIMARY KEY (collection, lexeme)
      )`);
  },
  down: (builder) => {
    builder.sql('DROP TABLE counted_words, word_counts');
  },
};
