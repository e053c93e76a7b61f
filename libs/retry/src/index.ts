export { retry, type RetryOptions } from './retry.js';
