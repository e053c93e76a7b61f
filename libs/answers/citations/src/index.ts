export { type CitablePassage, citablePassage } from './citable-passage.js';
export { checkAnswers, passThrough } from './citation-check.js';
export { CitationNumbers, byNumber } from './citation-numbers.js';
export { type AnswerForm } from './marker-writer.js';
