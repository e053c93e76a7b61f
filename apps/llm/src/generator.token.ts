/** Injection token of the loaded model. */
export const generatorToken = Symbol('generator');
