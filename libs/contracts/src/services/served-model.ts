import { MegaNestError } from '../errors.js';

/** Refuses a request for a model that is not the one served. Errors: model_not_found, listing what there is. */
export function assertServedModel(requested: string | undefined, served: string): void {
  if (requested === undefined || requested === served) return;
  throw new MegaNestError('model_not_found', { model: requested, available: served, param: 'model' });
}
