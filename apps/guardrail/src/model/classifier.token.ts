/** Injection token of the loaded classifier; undefined where none is configured. */
export const classifierToken = Symbol('classifier');
