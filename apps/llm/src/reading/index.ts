export { answererToken, openAnswerer } from './open-answerer.js';
export type { ExtractiveAnswerer } from './extractive-answerer.js';
export { Library } from './library.js';
