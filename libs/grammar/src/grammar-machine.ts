import { MegaNestError, invalidField } from '#contracts';
import { intersection, characterSet, wideSequences, type ByteRange } from './regex/character-set.js';
import { ShortestTexts } from './shortest-texts.js';
import { repeat, type Grammar, type GrammarNode } from './grammar.js';

/** What is left to match: the head, then another continuation. Number 0 is the end of the text. */
type Continuation = number;
const endOfText: Continuation = 0;

/** A piece of a grammar over bytes: what characters and texts become. */
type ByteNode = { readonly kind: 'bytes'; readonly ranges: readonly ByteRange[]; readonly at: number };
type Node = GrammarNode | ByteNode;
type Repeat = Extract<GrammarNode, { kind: 'repeat' }>;

/** A byte of a range leads to a continuation. */
interface Arc {
  readonly first: number;
  readonly last: number;
  readonly to: Continuation;
}

/** Everything that can follow one beginning of a text. */
interface State {
  readonly kernel: readonly Continuation[];
  arcs?: readonly Arc[];
  /** States by byte; -1 where nothing fits, -2 where it was not asked yet. */
  next?: Int32Array;
  ends: boolean;
  /** See {@link GrammarMachine.closing}. */
  closing?: number;
}

/** Ways to read one beginning of a text, and steps to find what may follow it, beyond which a grammar is too ambiguous. */
const mostWays = 2000;
const mostSteps = 200_000;
/** States after which a machine is full. */
const mostStates = 4096;
const mostContinuations = 500_000;

/** No byte fits. */
export const deadState = -1;
const unknownState = -2;

const encoder = new TextEncoder();
const ascii = characterSet([0, 0x7f]);

/**
 * Follows a grammar byte by byte. A state is the set of all ways in which the text so far can be read; states are made
 * when they are first reached, and known ones cost one look into a table. Repetitions are counted rather than unrolled, so
 * that nothing depends on how large the grammar would be when it is written out. Errors: invalid_request where one text can
 * be read in too many ways.
 */
export class GrammarMachine {
  readonly start: number;
  private readonly states: State[] = [];
  private readonly stateOfKernel = new Map<string, number>();
  private readonly heads: Node[] = [];
  private readonly rests: Continuation[] = [];
  private readonly continuations = new Map<number, Continuation>();
  private readonly nodes = new Map<Node, number>();
  private readonly repeats = new Map<string, Repeat>();
  private readonly bytes = new Map<string, ByteNode>();
  private readonly suffixes = new Map<readonly ByteRange[], ByteNode[]>();
  private readonly entries = new Map<object, readonly ByteNode[]>();
  /** Bytes of the shortest text of each continuation, where it was asked for. */
  private readonly lengths: (number | undefined)[] = [0];
  private steps = 0;

  constructor(
    private readonly grammar: Grammar,
    private shortest?: ShortestTexts,
  ) {
    // The end of the text has number 0.
    this.heads.push(grammar.root);
    this.rests.push(endOfText);
    this.start = this.stateOf([this.continuation(grammar.root, endOfText)]);
  }

  /** Many states were made: go on with {@link continued}. */
  get isFull(): boolean {
    return this.states.length > mostStates || this.heads.length > mostContinuations;
  }

  /** An empty machine for the same grammar, and the state in it that this one's state is. */
  continued(state: number): { machine: GrammarMachine; state: number } {
    const machine = new GrammarMachine(this.grammar, this.shortest);
    const kernel = this.states[state]!.kernel.map((one) => this.copyTo(machine, one));
    return { machine, state: machine.stateOf(kernel) };
  }

  /** Allows the next steps; without it a long series of cheap ones would come to an end. */
  refill(): void {
    this.steps = 0;
  }

  /** The state behind a byte, or {@link deadState}. */
  step(state: number, byte: number): number {
    const from = this.states[state]!;
    const known = (from.next ?? this.expand(from))[byte]!;
    return known === unknownState ? this.follow(from, byte) : known;
  }

  /** Whether the text may end. */
  mayEnd(state: number): boolean {
    const from = this.states[state]!;
    if (!from.next) this.expand(from);
    return from.ends;
  }

  /**
   * The one byte that brings the text to its end on the shortest way: the quote that ends a string, the brace that ends an object;
   * {@link deadState} where several bytes are as short, or none is.
   */
  closing(state: number): number {
    const from = this.states[state]!;
    if (from.closing !== undefined) return from.closing;
    if (!from.next) this.expand(from);
    let [closing, least] = [deadState, Infinity];
    for (const { first, last, to } of from.arcs!) {
      const length = this.lengthOf(to);
      if (length > least) continue;
      const isOne = first === last && (length < least || closing === first);
      [closing, least] = [isOne && length < Infinity ? first : deadState, length];
    }
    from.closing = closing;
    return closing;
  }

  private lengthOf(given: Continuation): number {
    this.shortest ??= new ShortestTexts(this.grammar);
    const chain: Continuation[] = [];
    for (let one = given; this.lengths[one] === undefined; one = this.rests[one]!) chain.push(one);
    for (const one of chain.toReversed())
      this.lengths[one] = this.headLength(this.heads[one]!) + this.lengths[this.rests[one]!]!;
    return this.lengths[given]!;
  }

  private headLength(head: Node): number {
    return head.kind === 'bytes' ? head.ranges.length - head.at : this.shortest!.of(head);
  }

  /** All bytes between two borders of arcs lead to the same state. */
  private follow(from: State, byte: number): number {
    const arcs = from.arcs!;
    this.count(arcs.length);
    const kernel: Continuation[] = [];
    let [first, last] = [0, 255];
    for (const arc of arcs) {
      if (arc.first <= byte && byte <= arc.last) {
        kernel.push(arc.to);
        first = Math.max(first, arc.first);
        last = Math.min(last, arc.last);
      } else if (arc.last < byte) first = Math.max(first, arc.last + 1);
      else last = Math.min(last, arc.first - 1);
    }
    const state = kernel.length === 0 ? deadState : this.stateOf(kernel);
    from.next!.fill(state, first, last + 1);
    return state;
  }

  private stateOf(given: readonly Continuation[]): number {
    const kernel = given.length === 1 ? given : [...new Set(given)].toSorted((one, other) => one - other);
    if (kernel.length > mostWays) throw tooAmbiguous();
    const key = kernel.length === 1 ? String(kernel[0]) : kernel.join(' ');
    const known = this.stateOfKernel.get(key);
    if (known !== undefined) return known;
    this.states.push({ kernel, ends: false });
    this.stateOfKernel.set(key, this.states.length - 1);
    return this.states.length - 1;
  }

  /** Walks from the continuations of a state to the bytes that they begin with. */
  private expand(state: State): Int32Array {
    const arcs: Arc[] = [];
    const seen = new Set<Continuation>();
    /** Of repetitions of the same, with the same behind them, the longest allows all that the others do. */
    const longest = new Map<string, number>();
    const pending = [...state.kernel];
    for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
      this.count(1);
      if (one === endOfText) {
        state.ends = true;
        continue;
      }
      if (seen.has(one)) continue;
      seen.add(one);
      const [head, rest] = [this.heads[one]!, this.rests[one]!];
      if (head.kind === 'repeat' && head.min === 0) {
        const key = `${this.numberOf(head.item)} ${rest}`;
        if ((longest.get(key) ?? -1) >= head.max) continue;
        longest.set(key, head.max);
      }
      this.open(head, rest, arcs, pending);
    }
    state.arcs = arcs;
    state.next = new Int32Array(256).fill(unknownState);
    return state.next;
  }

  private open(head: Node, rest: Continuation, arcs: Arc[], pending: Continuation[]): void {
    switch (head.kind) {
      case 'bytes': {
        const [first, last] = head.ranges[head.at]!;
        const isLast = head.at === head.ranges.length - 1;
        arcs.push({ first, last, to: isLast ? rest : this.continuation(this.behind(head), rest) });
        return;
      }
      case 'text':
      case 'characters':
        for (const entry of this.entriesOf(head)) {
          this.count(1);
          this.open(entry, rest, arcs, pending);
        }
        if (head.kind === 'text' && head.text === '') pending.push(rest);
        return;
      case 'sequence':
        pending.push(head.parts.reduceRight((behind, part) => this.continuation(part, behind), rest));
        return;
      case 'choice':
        for (const option of head.options) pending.push(this.continuation(option, rest));
        return;
      case 'repeat':
        if (head.min === 0) pending.push(rest);
        if (head.max > 0) {
          const fewer = this.repeatOf(head.item, Math.max(0, head.min - 1), head.max - 1);
          pending.push(this.continuation(head.item, fewer.max === 0 ? rest : this.continuation(fewer, rest)));
        }
        return;
      default:
        pending.push(this.continuation(this.grammar.rules.get(head.name)!, rest));
    }
  }

  /** The bytes that a text, or a character of a set, can be. */
  private entriesOf(node: Extract<GrammarNode, { kind: 'text' | 'characters' }>): readonly ByteNode[] {
    // Many characters of a grammar are of the same set.
    const origin = node.kind === 'text' ? node : node.set;
    const known = this.entries.get(origin);
    if (known) return known;
    const sequences =
      node.kind === 'text'
        ? [Array.from(encoder.encode(node.text), (byte): ByteRange => [byte, byte])]
        : [...intersection(node.set, ascii).map((range) => [range]), ...wideSequences(node.set)];
    const entries = sequences
      .filter((ranges) => ranges.length > 0)
      .map((ranges): ByteNode => ({ kind: 'bytes', ranges, at: 0 }));
    this.entries.set(origin, entries);
    return entries;
  }

  /** Characters often differ in their first byte only: what is left of them is one node. */
  private behind({ ranges, at }: ByteNode): ByteNode {
    if (ranges.length > 4) {
      const suffixes = this.suffixes.get(ranges) ?? [];
      this.suffixes.set(ranges, suffixes);
      return (suffixes[at + 1] ??= { kind: 'bytes', ranges, at: at + 1 });
    }
    const left = ranges.slice(at + 1);
    const key = left.join(' ');
    const node = this.bytes.get(key) ?? { kind: 'bytes', ranges: left, at: 0 };
    this.bytes.set(key, node);
    return node;
  }

  private repeatOf(item: GrammarNode, min: number, max: number): Repeat {
    const key = `${this.numberOf(item)} ${min} ${max}`;
    const known = this.repeats.get(key) ?? (repeat(item, min, max) as Repeat);
    this.repeats.set(key, known);
    return known;
  }

  private continuation(head: Node, rest: Continuation): Continuation {
    const key = this.numberOf(head) * 2 ** 26 + rest;
    const known = this.continuations.get(key);
    if (known !== undefined) return known;
    this.heads.push(head);
    this.rests.push(rest);
    const made = this.heads.length - 1;
    if (made >= 2 ** 26) throw tooAmbiguous();
    this.continuations.set(key, made);
    return made;
  }

  private numberOf(node: Node): number {
    const known = this.nodes.get(node);
    if (known !== undefined) return known;
    this.nodes.set(node, this.nodes.size);
    return this.nodes.size - 1;
  }

  private copyTo(other: GrammarMachine, given: Continuation): Continuation {
    const heads: Node[] = [];
    for (let one = given; one !== endOfText; one = this.rests[one]!) heads.push(this.heads[one]!);
    return heads.reduceRight((rest, head) => {
      const own = head.kind === 'repeat' ? other.repeatOf(head.item, head.min, head.max) : head;
      return other.continuation(own, rest);
    }, endOfText);
  }

  private count(steps: number): void {
    this.steps += steps;
    if (this.steps > mostSteps) throw tooAmbiguous();
  }
}

function tooAmbiguous(): MegaNestError {
  return invalidField('constraint', 'It is too ambiguous: one text can be read in too many ways.');
}
