import { invalidField, type MegaNestError } from '#contracts';

/** Neither a text nor an item came, and the conversation before is empty, too. */
export function missingInput(): MegaNestError {
  return invalidField('input', 'must be a text, or a list of at least one item');
}
