export { tableOf } from './row-table.js';
