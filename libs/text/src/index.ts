export { condenseQuestion } from './condense-question.js';
export { splitSentences, countWords, firstWords } from './sentences.js';
