export { AsyncQueue, eventsOf } from './async-queue.js';
export { asClient, currentClient } from './fairness/client-context.js';
export { ClientShares } from './fairness/client-shares.js';
export { busiestClients, noteWork } from './fairness/client-work.js';
export { FairTurns } from './fairness/fair-turns.js';
export { gatherInTurns } from './in-turns.js';
export { showWork, workUnderWay } from './work-under-way.js';
export { PrioritizedQueue, type Priority } from './prioritized-queue.js';
