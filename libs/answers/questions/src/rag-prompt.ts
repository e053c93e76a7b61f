import { blockOf, noun, questionIn, withoutAnswerLabel, type ContextBlock } from './rag-blocks.js';
import { passagesOf, type GivenPassage } from './rag-passages.js';

/** A turn of a conversation. */
interface Turn {
  readonly role: string;
  readonly content: string;
}

/** A question with its own passages, which a framework for retrieval-augmented generation wrote into a prompt. */
export interface RagPrompt {
  readonly question: string;
  readonly passages: readonly GivenPassage[];
  /** The instructions ask for the ids of the passages in the answer. */
  readonly asksForCitations: boolean;
  /** What the instructions ask for where the passages do not have the answer. */
  readonly refusal?: string;
}

const answers = /\b(?:answer(?:ing)?|respond|reply|address)\b/i;
/** "based only on the following context", "use the retrieved documents", "the context provided". */
const fromContext = new RegExp(
  String.raw`\b(?:us(?:e|ing)|given|based|according to|refer(?:ring)? to|from|with|rely(?:ing)?|consult|considering|read|content of|in)\b[^.?!\n]{0,80}\b${noun}\b`,
  'i',
);
const asksToCite =
  /\bcit(?:e|es|ing|ations?)\b|\[(?:id|n|number|index|source)\]|\b(?:source|reference) numbers?\b/i;
const asksNotToCite =
  /\b(?:do not|don['’]t|never|without|avoid)\b[^.\n]{0,30}\bcit(?:e|ing|ations?)\b(?! *(?:if|when|unless|sources? (?:that|which)))/i;
const unknown =
  /\b(?:don['’]?t know|do not know|cannot|can['’]?t|could not|unable|not (?:in|found|contain|available|sufficient|enough|present|provided|answerable)|does(?: not|n['’]t)|no (?:answer|information|relevant)|unsure|not sure|insufficient)\b/i;
const quoted =
  /\b(?:say|reply|respond|answer|write|output|state|return)\b[^.“"‘`\n]{0,40}(?:"([^"\n]{2,200})"|“([^”\n]{2,200})”|`([^`\n]{2,200})`|'([^\n]{2,200}?)'(?=[\s.,;]|$))/i;
const saysUnknown =
  /\b(?:say|admit|state|reply|respond|answer)\b[^.\n]{0,30}\byou (?:don['’]?t|do not) know\b/i;

/**
 * The question and the passages of a prompt that has an instruction to answer from a context, the context, and a
 * question, in one message or in several; undefined for every other conversation. The kind counts, not one framework's
 * text: the context is between tags, fences or dashes, or below a label or the instruction.
 */
export function ragPromptOf(messages: readonly Turn[]): RagPrompt | undefined {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const asked = messages[last];
  if (!asked) return undefined;
  return (
    inUserMessage(asked.content, rulesOf(messages)) ?? inSystemMessage(systemOf(messages), asked.content)
  );
}

function systemOf(messages: readonly Turn[]): Turn[] {
  return messages.filter(({ role }) => role === 'system' || role === 'developer');
}

function rulesOf(messages: readonly Turn[]): string {
  return systemOf(messages)
    .map(({ content }) => content)
    .join('\n\n');
}

/** The turns of a conversation with the bare question in the place of each prompt that has a context. */
export function withBareQuestions<T extends Turn>(messages: readonly T[], { question }: RagPrompt): T[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const rules = rulesOf(messages);
  return messages.map((turn, index) => {
    if (turn.role !== 'user') return turn;
    const asked = index === last ? question : inUserMessage(turn.content, rules)?.question;
    return asked === undefined ? turn : { ...turn, content: asked };
  });
}

/** The context and the question are in the user's message; a system message may have instructions. */
function inUserMessage(text: string, rules: string): RagPrompt | undefined {
  const block = blockOf(text, { hasQuestion: true });
  if (!block) return undefined;
  const question = questionIn(block);
  if (!question) return undefined;
  const instructions = [rules, block.before, block.after].join('\n');
  const isLabelled = block.isLabelled && question.isLabelled;
  // Without a label, general rules of a system message do not make a pasted text a context.
  const own = block.isLabelled ? instructions : `${block.before}\n${block.after}`;
  return isLabelled || isInstruction(own.replace(question.text, ''))
    ? promptOf(question.text, block, instructions)
    : undefined;
}

/** The context is in a system message; the user's message is the question. */
function inSystemMessage(system: readonly Turn[], question: string): RagPrompt | undefined {
  for (const { content } of system) {
    const block = blockOf(content, { hasQuestion: false });
    const instructions = system.map((turn) => (turn.content === content ? '' : turn.content)).join('\n');
    const all = [instructions, block?.before ?? '', block?.after ?? ''].join('\n');
    if (!block || !isInstruction(all)) continue;
    const labelled = questionIn({ before: question, text: '', after: '', isLabelled: false });
    return promptOf(labelled?.isLabelled ? labelled.text : question, block, all);
  }
  return undefined;
}

function isInstruction(text: string): boolean {
  return answers.test(text) && fromContext.test(text);
}

function promptOf(question: string, { text }: ContextBlock, instructions: string): RagPrompt | undefined {
  const passages = passagesOf(withoutAnswerLabel(text));
  const asks = withoutAnswerLabel(question).trim();
  if (passages.length === 0 || asks === '') return undefined;
  const refusal = refusalIn(instructions);
  return {
    question: asks,
    passages,
    asksForCitations: asksToCite.test(instructions) && !asksNotToCite.test(instructions),
    ...(refusal && { refusal }),
  };
}

/** The words of a refusal: those that a sentence about a missing answer quotes, or that the assistant does not know. */
function refusalIn(instructions: string): string | undefined {
  for (const line of instructions.split('\n')) {
    if (!unknown.test(line)) continue;
    const said = quoted.exec(line.slice(unknownFrom(line)));
    const words = said?.slice(1).find((group) => group !== undefined);
    if (words) return words.trim();
  }
  return saysUnknown.test(instructions) ? "I don't know." : undefined;
}

/** Where the sentence about a missing answer begins. */
function unknownFrom(line: string): number {
  const at = unknown.exec(line)?.index ?? 0;
  return Math.max(0, line.lastIndexOf('. ', at));
}
