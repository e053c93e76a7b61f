import type { Scope } from './caller.js';

/** Figures of the whole installation. */
const administrative = new Set(['/metrics', '/v1/statistics', '/v1/statistics/timeline', '/v1/doctor']);
/** What only reads although it is a POST, as OPEA has it. */
const readingDataprep = /^\/v1\/dataprep\/(get|get_file|indices)$/;
const dataprep = /^\/v1\/dataprep(\/|$)/;

/** The scope that a route needs, by its pattern (`/v1/dataprep/jobs/:id`): a spelling of the path cannot pass by it. */
export function scopeOfRoute(method: string, route: string | undefined): Scope {
  if (route === undefined) return 'read';
  if (administrative.has(route)) return 'admin';
  const changes = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
  return changes && dataprep.test(route) && !readingDataprep.test(route) ? 'write' : 'read';
}
