import type { Grammar, GrammarNode } from './grammar.js';

/** Maximum rounds over recursive rules. Few need more than three; a rule without a length counts as endless. */
const maxRounds = 100;

const encoder = new TextEncoder();

/** Number of bytes of the shortest text of each node of a grammar. */
export class ShortestTexts {
  private readonly rules = new Map<string, number>();
  private readonly known = new WeakMap<GrammarNode, number>();

  constructor(private readonly grammar: Grammar) {
    // Every other round goes backward, because rules refer to earlier and to later rules.
    const names = [...grammar.rules.keys()];
    for (let round = 0; round < maxRounds && this.improve(names); round++) names.reverse();
  }

  of(node: GrammarNode): number {
    const known = this.known.get(node);
    if (known !== undefined) return known;
    const length = this.measure(node, (name) => this.rules.get(name) ?? Infinity);
    this.known.set(node, length);
    return length;
  }

  /** Runs one round; returns true if a rule has become shorter. */
  private improve(names: readonly string[]): boolean {
    let isShorter = false;
    for (const name of names) {
      const length = this.measure(
        this.grammar.rules.get(name)!,
        (other) => this.rules.get(other) ?? Infinity,
      );
      if (length >= (this.rules.get(name) ?? Infinity)) continue;
      isShorter = true;
      this.rules.set(name, length);
    }
    return isShorter;
  }

  private measure(node: GrammarNode, ruleLength: (name: string) => number): number {
    switch (node.kind) {
      case 'text':
        return encoder.encode(node.text).length;
      case 'characters': {
        const [first] = node.set;
        return first === undefined ? Infinity : utf8Length(first[0]);
      }
      case 'sequence':
        return node.parts.reduce((sum, part) => sum + this.measure(part, ruleLength), 0);
      case 'choice':
        return node.options.reduce(
          (least, option) => Math.min(least, this.measure(option, ruleLength)),
          Infinity,
        );
      case 'repeat':
        return node.min === 0 ? 0 : node.min * this.measure(node.item, ruleLength);
      default:
        return ruleLength(node.name);
    }
  }
}

function utf8Length(character: number): number {
  if (character < 0x80) return 1;
  if (character < 0x800) return 2;
  return character < 0x10000 ? 3 : 4;
}
