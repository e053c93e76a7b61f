import { intersection, characterSet, wideSequences, type ByteRange } from './regex/character-set.js';
import { ShortestTexts } from './shortest-texts.js';
import { ConstraintError, repeat, type Grammar, type GrammarNode } from './grammar.js';

/** Number of the rest to match: a head, then another continuation. 0 is the end of the text. */
type Continuation = number;
const endOfText: Continuation = 0;

/** A grammar node over bytes, for characters and texts. */
type ByteNode = { readonly kind: 'bytes'; readonly ranges: readonly ByteRange[]; readonly at: number };
type Node = GrammarNode | ByteNode;
type Repeat = Extract<GrammarNode, { kind: 'repeat' }>;

/** An edge from a range of bytes to a continuation. */
interface Arc {
  readonly first: number;
  readonly last: number;
  readonly to: Continuation;
}

/** All continuations of one prefix of a text. */
interface State {
  readonly kernel: readonly Continuation[];
  arcs?: readonly Arc[];
  /** Next states by byte; -1 if the byte is not allowed, -2 if the state is not computed yet. */
  next?: Int32Array;
  ends: boolean;
  /** See {@link GrammarMachine.closing}. */
  closing?: number;
}

/** Limits beyond which a grammar is too ambiguous: parses of a prefix, and steps to find the bytes that may follow. */
const maxWays = 2000;
const maxSteps = 200_000;
/** Number of states from which on a machine is full. */
const maxStates = 4096;
const maxContinuations = 500_000;

/** The state after a byte that is not allowed. */
export const deadState = -1;
const unknownState = -2;

const encoder = new TextEncoder();
const ascii = characterSet([0, 0x7f]);

/**
 * Matches a grammar byte by byte. A state is the set of all parses of the text so far. States are computed when they
 * are first reached; a known state is a table lookup. Repetitions are counted rather than unrolled, so that the
 * cost does not depend on their bounds. Errors: invalid_request if a text has too many parses.
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
  /** Bytes of the shortest text of each continuation; computed on demand. */
  private readonly lengths: (number | undefined)[] = [0];
  private steps = 0;

  constructor(
    private readonly grammar: Grammar,
    private shortest?: ShortestTexts,
  ) {
    // Continuation 0 is the end of the text.
    this.heads.push(grammar.root);
    this.rests.push(endOfText);
    this.start = this.stateOf([this.continuation(grammar.root, endOfText)]);
  }

  /** True if the machine has many states and should be replaced by {@link continued}. */
  get isFull(): boolean {
    return this.states.length > maxStates || this.heads.length > maxContinuations;
  }

  /** Returns an empty machine for the same grammar, and the equivalent of the given state in it. */
  continued(state: number): { machine: GrammarMachine; state: number } {
    const machine = new GrammarMachine(this.grammar, this.shortest);
    const kernel = this.states[state]!.kernel.map((one) => this.copyTo(machine, one));
    return { machine, state: machine.stateOf(kernel) };
  }

  /** Resets the limit of steps, so that it bounds one mask rather than a whole completion. */
  refill(): void {
    this.steps = 0;
  }

  /** Returns the state after a byte, or {@link deadState}. */
  step(state: number, byte: number): number {
    const from = this.states[state]!;
    const known = (from.next ?? this.expand(from))[byte]!;
    return known === unknownState ? this.follow(from, byte) : known;
  }

  /** Returns true if the text may end. */
  mayEnd(state: number): boolean {
    const from = this.states[state]!;
    if (!from.next) this.expand(from);
    return from.ends;
  }

  /**
   * Returns the next byte of the shortest way to the end of the text, e.g. the closing quote of a string;
   * {@link deadState} if several bytes are equally short or the text cannot end.
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

  /** Computes the next state for all bytes between two borders of arcs, because it is the same for them. */
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
    if (kernel.length > maxWays) throw tooAmbiguous();
    const key = kernel.length === 1 ? String(kernel[0]) : kernel.join(' ');
    const known = this.stateOfKernel.get(key);
    if (known !== undefined) return known;
    this.states.push({ kernel, ends: false });
    this.stateOfKernel.set(key, this.states.length - 1);
    return this.states.length - 1;
  }

  /** Finds the bytes with which the continuations of a state begin. */
  private expand(state: State): Int32Array {
    const arcs: Arc[] = [];
    const seen = new Set<Continuation>();
    /** The longest repetition for each item and continuation, which includes the shorter ones. */
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

  /** Returns the byte sequences of a text, or of the characters of a set. */
  private entriesOf(node: Extract<GrammarNode, { kind: 'text' | 'characters' }>): readonly ByteNode[] {
    // Many nodes of a grammar share a character set.
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

  /** Returns the node after the first byte. Many characters differ only in it, so equal rests share a node. */
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
    if (this.steps > maxSteps) throw tooAmbiguous();
  }
}

function tooAmbiguous(): ConstraintError {
  return new ConstraintError('It is too ambiguous: one text has too many parses.');
}
