import type { Citation, GenerationChunk, GuardrailJudgement } from '#contracts';

/** An answer on its way: what was redacted in it, and whether it was cut. */
interface OpenAnswer {
  /** Characters of what the model said. */
  read: number;
  changes: Change[];
  blocked: boolean;
}

/** A stretch of the model's text, and the length of what stands in its place. */
interface Change {
  start: number;
  end: number;
  length: number;
}

/**
 * Hands an answer's sentences on as they were judged. A sentence that is blocked is replaced by the rule's message and
 * ends its answer (`content_filter`); once no answer is left the stream behind is stopped. Citations move along with
 * the text that they belong to; one whose text was redacted is dropped.
 */
export async function* guardAnswers(
  sentences: AsyncIterable<GenerationChunk>,
  judge: (text: string) => Promise<GuardrailJudgement>,
  choices = new Map<number, OpenAnswer>(),
): AsyncGenerator<GenerationChunk, void, void> {
  for await (const chunk of sentences) {
    const answer = choices.get(chunk.choice) ?? { read: 0, changes: [], blocked: false };
    choices.set(chunk.choice, answer);
    if (answer.blocked) {
      if (chunk.usage) yield { choice: chunk.choice, text: '', usage: chunk.usage, model: chunk.model };
      continue;
    }
    const judged = chunk.text === '' ? undefined : await judge(chunk.text);
    yield judged?.action === 'block' ? blockedChunk(chunk, judged, answer) : keptChunk(chunk, judged, answer);
  }
}

function blockedChunk(
  { choice, usage, model }: GenerationChunk,
  { message = 'The rest of this answer is withheld.' }: GuardrailJudgement,
  answer: OpenAnswer,
): GenerationChunk {
  answer.blocked = true;
  return {
    choice,
    text: message,
    refusal: true,
    finishReason: 'content_filter',
    ...(usage && { usage }),
    ...(model && { model }),
  };
}

function keptChunk(
  chunk: GenerationChunk,
  judged: GuardrailJudgement | undefined,
  answer: OpenAnswer,
): GenerationChunk {
  // Thoughts come in pieces of any length, which cannot be judged as sentences can: they are withheld.
  const { text, citations, logprobs, reasoning: _withheld, ...rest } = chunk;
  const redacted = judged?.action === 'redact';
  if (redacted) {
    for (const { start, end, length } of changesOf(judged)) {
      answer.changes.push({ start: answer.read + start, end: answer.read + end, length });
    }
  }
  answer.read += text.length;
  const moved = citations?.flatMap((citation) => moveCitation(citation, answer.changes));
  return {
    ...rest,
    text: redacted ? judged.text : text,
    // The tokens of a redacted sentence would tell what was redacted.
    ...(logprobs && !redacted && { logprobs }),
    ...(moved && moved.length > 0 && { citations: moved }),
  };
}

function changesOf({ findings }: GuardrailJudgement): Change[] {
  return findings.flatMap(({ start, end, replacement }) =>
    start === undefined || end === undefined ? [] : [{ start, end, length: replacement?.length ?? 0 }],
  );
}

function moveCitation(citation: Citation, changes: readonly Change[]): Citation[] {
  const { startIndex, endIndex } = citation;
  if (changes.some(({ start, end }) => start < endIndex && end > startIndex)) return [];
  const shift = changes
    .filter(({ end }) => end <= startIndex)
    .reduce((sum, { start, end, length }) => sum + length - (end - start), 0);
  return [{ ...citation, startIndex: startIndex + shift, endIndex: endIndex + shift }];
}
