export { AsyncQueue, eventsOf } from './async-queue.js';
export { TokenBudgetQueue } from './token-budget-queue.js';
