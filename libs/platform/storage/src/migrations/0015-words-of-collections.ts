import type { StorageMigration } from './storage-migration.js';

/**
 * The number of chunks of a large collection with each word, counted in the background. A search uses it to find the
 * rare words of a query without reading the chunks with the common ones.
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
