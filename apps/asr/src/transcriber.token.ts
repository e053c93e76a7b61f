/** Injection token of the transcriber. */
export const transcriberToken = Symbol('transcriber');
