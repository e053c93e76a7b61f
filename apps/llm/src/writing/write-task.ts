import { contentWords, type ChatTask } from '#answers/questions';

/** Limit for the words of a title that the request does not limit. */
const titleWords = 6;
const maxTags = 3;
const maxFollowUps = 3;
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
      const tags = subjectsOf(asked).slice(0, maxTags).map(capitalized);
      return tags.length > 0 ? tags : ['General'];
    }
    case 'follow-ups':
      return subjectsOf(asked)
        .slice(0, maxFollowUps)
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
  const all = (/[\p{L}\p{N}]/u.test(subject) ? subject : line).split(/\s+/);
  const title = withinWords(all, Math.max(1, maxWords))
    .join(' ')
    .replaceAll(/[\s.,;:!?'"()]+$/g, '')
    .slice(0, 80);
  return title === '' ? 'New chat' : capitalized(title);
}

/** Words that say little, so that a title does without them where it has to be short, and does not end with them. */
const functionWords =
  /^(?:a|an|the|of|in|on|at|to|for|by|with|from|and|or|but|is|are|was|were|be|do|does|did|has|have|had|can|will|would|if|when|where|that|which|what|who|how|many|much|why|my|your|our|their|its|it|this|these|there)$/i;

/** All words where they are few; otherwise the first meaningful words. */
function withinWords(words: readonly string[], max: number): readonly string[] {
  if (words.length <= max) return words;
  const meaningful = words.filter((word) => !functionWords.test(word));
  return (meaningful.length > 0 ? meaningful : words).slice(0, max);
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
