export { ExtractiveAnswerer } from './extractive-answerer.js';
export { labelsOf } from './passage-labels.js';
export { tokensOfReader } from './passage-tables.js';
export { rankSentences, readFusion } from './rank-sentences.js';
export { readPassages } from './sentence.js';
export { type Shelf, answerSmallTalk } from './small-talk.js';
export { stemsOf } from './stems.js';
export { type Answer, writeAnswer } from './written-answer.js';
