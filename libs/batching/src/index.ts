export { AsyncQueue, eventsOf } from './async-queue.js';
export { gatherInTurns } from './in-turns.js';
export { PrioritizedQueue, type Priority } from './prioritized-queue.js';
