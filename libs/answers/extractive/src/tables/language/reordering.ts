import { wordSet, wordsOf } from '../cells/words.js';

const stems = (list: string) => new Set(wordsOf(list).map(({ stem }) => stem));

/** Words about stocks that have to be filled up, in English and German. */
export const reordering = {
  verbs: wordSet(
    'reorder reordered reordering restock restocked restocking replenish replenished nachbestellen nachbestellt',
  ),
  /** Words before the verb `reorder`. */
  before: wordSet('to must should shall i we you'),
  /** Headers of the amount from which on one orders again. */
  levels: stems('reorder minimum min mindestbestand meldebestand mindestmenge'),
  /** Headers of what is there. */
  stock: stems(
    'stock inventory hand quantity qty current actual available bestand lagerbestand lager menge vorrat',
  ),
};
