import { holds, plain } from '../answers/judge.js';
import type { EngineMessage } from './engine.js';
import type { EvidenceQuestion } from './questions.js';

/** A numbered part of the evidence in a prompt. */
export interface Block {
  /** The first line. */
  readonly label: string;
  /** All lines, the first one included. */
  readonly text: string;
}

/** What is judged about the evidence for a question. */
export interface Verdict {
  /** All facts are there, or the label says that the table has more rows than are shown. */
  readonly complete: boolean;
  /** Rows are missing, and the label says so. */
  readonly told: boolean;
  readonly missing: readonly string[];
  readonly blocks: number;
  /** Estimated: four characters each. */
  readonly tokens: number;
}

const charactersOfToken = 4;
const rowRange = /\brows? \d+[–-]\d+ of \d+/;

/** The numbered blocks of a prompt, without the question. None: the prompt has no evidence. */
export function blocksOf(messages: readonly EngineMessage[], question: string): Block[] {
  const message = messages.findLast(({ content }) => /^\[1\] /m.test(content));
  if (!message) return [];
  const end = message.content.lastIndexOf(question);
  // The line of the question may begin with a heading.
  const text = end === -1 ? message.content : message.content.slice(0, end).replace(/\n[^\n]*$/, '');
  const starts: number[] = [];
  for (const { 1: number, index } of text.matchAll(/^\[(\d+)\] /gm))
    if (Number(number) === starts.length + 1) starts.push(index);
  return starts.map((start, index) => {
    const shown = text
      .slice(start, starts[index + 1])
      .replace(/^\[\d+\] /, '')
      .trim();
    return { label: shown.split('\n')[0]!, text: shown };
  });
}

/** Whether the blocks of the right documents contain all facts. `titles`: of documents, by their file names. */
export function judge(
  { facts, rows, documents }: Pick<EvidenceQuestion, 'facts' | 'rows' | 'documents'>,
  blocks: readonly Block[],
  titles: ReadonlyMap<string, string>,
): Verdict {
  const isOwn = (label: string) =>
    documents.some(
      (name) => label.includes(plain(name)) || label.startsWith(plain(titles.get(name) ?? name)),
    );
  const own = blocks.filter(({ label }) => isOwn(plain(label)));
  const said = own.map(({ text }) => text).join('\n\n');
  const missing = facts.filter((forms) => !forms.some((form) => holds(said, form))).map(([form]) => form!);
  const told = missing.length > 0 && rows !== undefined && own.some(({ label }) => rowRange.test(label));
  const characters = blocks.reduce((sum, { text }) => sum + text.length, 0);
  return {
    complete: missing.length === 0 || told,
    told,
    missing,
    blocks: blocks.length,
    tokens: Math.round(characters / charactersOfToken),
  };
}
