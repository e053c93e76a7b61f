import type { ChatMessage, condense, GenerationChunk, ReplyOf, TokenUsage } from '#contracts';
import { contentWords, countWords, firstWords, smallTalkTopic } from '#text';
import type { GenerateRequest } from '../tools/tool-format.js';

/** Limits of the prompt: turns before the question, and words and characters of each of them. */
const maxTurns = 6;
const maxWords = 60;
const maxCharacters = 600;
/** Parameters for a local model; the tokens are enough for a question of `maxWords` in any language. */
export const questionLimits = { temperature: 0, max_tokens: 120 };
/** Minimum share of the words of the rewritten question that occur in the conversation. */
const minKnownWords = 0.5;

const instruction =
  'Rewrite the last question of the conversation below so that it can be understood alone: put names in the place of words ' +
  'such as "it", "they" or "there". Do not answer it. Where it can be understood alone, repeat it. Keep its language. Write ' +
  'the question alone, on one line, with a question mark at its end. For example, "When?" after "Who wrote Dune?" becomes ' +
  '"When was Dune written?"';

/**
 * Asks a language model to rewrite the last question of a conversation. Its answer is used only if it is one question
 * with words of the conversation. The model is not asked for the first question, a greeting, or a question that is long
 * enough to be understood alone.
 */
export async function condenseWith(
  messages: readonly ChatMessage[],
  ask: (request: GenerateRequest) => AsyncIterable<GenerationChunk>,
): Promise<ReplyOf<typeof condense>> {
  const conversation = clip(messages);
  if (!conversation) return {};
  const { history, question } = conversation;
  const content = `${instruction}\n\n### Conversation:\n${history}\n\n### Last question:\n${question}`;
  const answer = await collect(ask({ messages: [{ role: 'user', content }] }));
  const read = readQuestion(answer, `${history} ${question}`);
  return { ...read, ...(answer.usage && { usage: answer.usage }) };
}

/** The last question and the turns before it, cut to the limits; undefined where no rewriting is needed. */
function clip(messages: readonly ChatMessage[]): { history: string; question: string } | undefined {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const question = messages[last]?.content.trim() ?? '';
  if (question === '' || question.length > maxCharacters || countWords(question) > maxWords) return undefined;
  if (smallTalkTopic(question)) return undefined;
  const turns = messages
    .slice(0, last)
    .filter(({ role, content }) => (role === 'user' || role === 'assistant') && content.trim() !== '');
  if (!turns.some(({ role }) => role === 'user')) return undefined;
  const lines = turns.slice(-maxTurns).map(({ role, content }) => {
    const said = content.slice(0, maxCharacters).replaceAll(/\[\d+\]|\s+/g, ' ');
    return `${role === 'user' ? 'User' : 'Assistant'}: ${firstWords(said.trim(), maxWords)}`;
  });
  return { history: lines.join('\n'), question };
}

interface Answer {
  text: string;
  isCut: boolean;
  usage?: TokenUsage;
}

/** Collects the text of an answer, and stops where it is too long for a question. */
async function collect(chunks: AsyncIterable<GenerationChunk>): Promise<Answer> {
  const answer: Answer = { text: '', isCut: false };
  for await (const { text, finishReason, usage } of chunks) {
    answer.text += text;
    answer.usage = usage;
    if (finishReason === 'length') answer.isCut = true;
    if (answer.text.length > 2 * maxCharacters) return { ...answer, isCut: true };
  }
  return answer;
}

/** The question in an answer, or the problem that makes it unusable. */
function readQuestion(
  { text, isCut }: Answer,
  conversation: string,
): Pick<ReplyOf<typeof condense>, 'question' | 'problem'> {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  const last = lines.at(-1);
  if (last === undefined) return { problem: 'empty' };
  // One line that announces the question may precede it.
  const isAlone = lines.length === 1 || (lines.length === 2 && lines[0]!.endsWith(':'));
  if (isCut || last.length > maxCharacters) return { problem: 'too_long' };
  const question = last
    .replace(/^[^:?]{0,40}\bquestion\b[^:?]{0,20}:\s*/i, '')
    .replaceAll(/^[\s"'“”„«»*_]+|[\s"'“”„«»*_]+$/g, '');
  if (!isAlone || !/[?？؟;]$/.test(question)) return { problem: 'not_a_question' };
  if (question.length > maxCharacters || countWords(question) > maxWords) return { problem: 'too_long' };
  return knowsWords(question, conversation) ? { question } : { problem: 'off_topic' };
}

/** Whether enough content words of a question have the same beginning as words of the conversation. */
function knowsWords(question: string, conversation: string): boolean {
  const said = conversation.toLowerCase();
  const parts = contentWords(question.toLowerCase()).flatMap(comparableParts);
  const known = parts.filter((part) => said.includes(part));
  return parts.length > 0 && known.length >= parts.length * minKnownWords;
}

const withoutSpaces = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** The beginning of a word, which its other forms share; in a script without spaces all pairs of characters. */
function comparableParts(word: string): string[] {
  if (!withoutSpaces.test(word)) return [word.slice(0, Math.max(4, Math.ceil(word.length * 0.6)))];
  return Array.from({ length: Math.max(1, word.length - 1) }, (_unused, index) =>
    word.slice(index, index + 2),
  );
}
