/** Injection token of the loaded model. */
export const embedderToken = Symbol('embedder');
