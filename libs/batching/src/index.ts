export { planBatches, type BatchLimits } from './plan-batches.js';
export { QueueFullError, TokenBudgetQueue, type QueuedItem } from './token-budget-queue.js';
