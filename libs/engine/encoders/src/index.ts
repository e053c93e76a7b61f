export { type Classifier, type LabelScore, loadClassifier } from './classifier.js';
export {
  describePrefixes,
  type Embedder,
  type Embeddings,
  type EmbedOptions,
  loadEmbedder,
  withPrefix,
} from './embedder.js';
export { type Reader, loadReader } from './reader.js';
export { pairsOf, splitWords, stemOf, stemSet } from './reader-tokens.js';
export { loadReranker, type Reranker } from './reranker.js';
export { splitTexts, splitInHalf, maxScores, type TextPiece } from './text-pieces.js';
