export { AsyncQueue, eventsOf } from './async-queue.js';
export { planBatches, type BatchLimits } from './plan-batches.js';
export { QueueFullError, TokenBudgetQueue, type QueuedItem } from './token-budget-queue.js';
