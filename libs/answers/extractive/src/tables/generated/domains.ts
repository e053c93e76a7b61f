import type { Domain } from './generator.js';
import { priceList } from './domains/price-list.js';
import { staff } from './domains/staff.js';
import { courses } from './domains/courses.js';
import { bestand } from './domains/german-stock.js';
import { flats } from './domains/flats.js';
import { players } from './domains/players.js';
import { trains } from './domains/trains.js';
import { mitarbeiter } from './domains/german-staff.js';

/** Tables and questions that the rules were made with. */
export const tuneDomains: readonly Domain[] = [priceList, staff, courses, bestand];

/** Other tables and other questions, which the rules were not made with. */
export const heldDomains: readonly Domain[] = [flats, players, trains, mitarbeiter];
