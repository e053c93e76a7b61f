export { splitSentences } from './sentences.js';
export { countWords, firstWords } from './words.js';
