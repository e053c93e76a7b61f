export { type Classifier, type LabelScore, loadClassifier } from './classifier.js';
export { type Embedder, type Embeddings, type EmbedOptions, loadEmbedder } from './embedder.js';
export { type Reader, loadReader } from './reader.js';
export { splitWords, stemOf } from './reader-words.js';
export { loadReranker, type Reranker } from './reranker.js';
export { cutPieces, halves, highestScores, type TextPiece } from './text-pieces.js';
