import type { Grammar } from './grammar.js';
import { deadState, GrammarMachine } from './grammar-machine.js';

const encoder = new TextEncoder();

/** Whether a whole text is one of those that a grammar allows. Errors: invalid_request where it can be read in too many ways. */
export function textFits(grammar: Grammar, text: string): boolean {
  let machine = new GrammarMachine(grammar);
  let state = machine.start;
  for (const byte of encoder.encode(text)) {
    machine.refill();
    state = machine.step(state, byte);
    if (state === deadState) return false;
    if (machine.isFull) ({ machine, state } = machine.continued(state));
  }
  return machine.mayEnd(state);
}
