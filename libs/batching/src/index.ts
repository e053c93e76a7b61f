export { AsyncQueue, eventsOf } from './async-queue.js';
export { planBatches } from './plan-batches.js';
export { QueueFullError, TokenBudgetQueue } from './token-budget-queue.js';
