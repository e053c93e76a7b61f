export { condenseQuestion, contentWords, questionWithNames } from './condense-question.js';
export { splitSentences, countWords, firstWords } from './sentences.js';
export { remember } from './remember.js';
