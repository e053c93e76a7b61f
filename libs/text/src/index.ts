export { condenseQuestion } from './condense-question.js';
export { splitSentences } from './sentences.js';
export { countWords, firstWords } from './words.js';
