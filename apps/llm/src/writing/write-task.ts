import { contentWords, type ChatTask } from '#text';

/** Limit for the words of a title that the request does not limit. */
const titleWords = 6;
const mostTags = 3;
const mostFollowUps = 3;
/** Words before the subject of a question. */
const opening =
  /^(?:(?:please|hi|hello|hey|and|so)\b[ ,]*)*(?:(?:can|could|would) you (?:please )?(?:tell me|explain|show me|find)?|tell me|explain|show me|i want to know|what(?:'s| is| are| was| were)|who (?:is|are|was)|how (?:do|can|could|should) i|how to)\b[ ,]*(?:about |the |a |an )?/i;

/**
 * Writes what a chat page asks for about a conversation, from the words of the conversation: as the JSON object of the
 * request, or as plain text. For models that cannot follow such a request.
 */
export function writeTask(task: ChatTask): string {
  const { kind, history, json, maxWords = titleWords } = task;
  const asked = history.filter(({ role }) => role === 'user').map(({ content }) => content);
  const written = textsOf(kind, asked, maxWords);
  if (json) return JSON.stringify({ [json.key]: json.isList ? written : (written[0] ?? '') });
  return written.join(kind === 'tags' ? ', ' : '\n');
}

function textsOf(kind: ChatTask['kind'], asked: readonly string[], maxWords: number): string[] {
  switch (kind) {
    case 'title':
      return [titleOf(asked[0] ?? '', maxWords)];
    case 'tags': {
      const tags = subjectsOf(asked).slice(0, mostTags).map(capitalized);
      return tags.length > 0 ? tags : ['General'];
    }
    case 'follow-ups':
      return subjectsOf(asked)
        .slice(0, mostFollowUps)
        .map((subject) => `What else do the documents say about ${subject}?`);
    case 'queries':
      return asked.slice(-1);
    default:
      return ['💬'];
  }
}

/** The beginning of a question without its opening words: "What is the tax on salt?" has the title "Tax on salt". */
function titleOf(question: string, maxWords: number): string {
  const [line = ''] = question.trim().split(/\n/);
  const subject = line.replace(opening, '');
  const words = (/[\p{L}\p{N}]/u.test(subject) ? subject : line).split(/\s+/).slice(0, Math.max(1, maxWords));
  const title = words
    .join(' ')
    .replaceAll(/[\s.,;:!?'"()]+$/g, '')
    .slice(0, 80);
  return title === '' ? 'New chat' : capitalized(title);
}

/** The meaningful words of the questions, the most frequent ones first. */
function subjectsOf(asked: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const word of asked.flatMap((text) => contentWords(text)))
    counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].toSorted(([, left], [, right]) => right - left).map(([word]) => word);
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
