export { giveWay } from './give-way.js';
export { preferredOf, twoOf } from './balancing/choices.js';
export { CircuitBreaker, type BreakerOptions } from './balancing/circuit-breaker.js';
export { createPolicy, type Policy } from './balancing/policies.js';
export { builtFile, projectRoot, testData } from './paths.js';
export { AsyncQueue, eventsOf } from './queues/async-queue.js';
export { ByteTurns } from './queues/fairness/byte-turns.js';
export { asClient, currentClient } from './queues/fairness/client-context.js';
export { ClientShares } from './queues/fairness/client-shares.js';
export { busiestClients, noteWork } from './queues/fairness/client-work.js';
export { FairTurns } from './queues/fairness/fair-turns.js';
export { gatherInTurns } from './queues/in-turns.js';
export { showWork, workUnderWay } from './queues/work-under-way.js';
export { PrioritizedQueue, type Priority } from './queues/prioritized-queue.js';
export { retry, type RetryOptions } from './retry.js';
export { escapePattern } from './text/escape-pattern.js';
export { estimateTokens } from './text/estimate-tokens.js';
export { splitSentences, sentencesWithin, countWords, firstWords } from './text/sentences.js';
export { detectLanguage, languageOf, languages, type Language } from './text/language.js';
export { remember } from './text/remember.js';
export { pcmWav, pcmWavHead, readPcmWav } from './wav/pcm-wav.js';
export {
  lowerCaseWords,
  normalizeWhitespace,
  sentencesIn,
  sentencesOf,
  structuralBreak,
} from './text/structured-sentences.js';
