import type { EncodedSequence, SequenceTemplate, TextTokenizer } from '#models';
import type { EncoderItem, EncoderOutcome } from './encoder-messages.js';
import { windowStarts } from './text-pieces.js';

/** Limits of a model's input. */
export interface EncodingLimits {
  readonly maxInputTokens: number;
  readonly vocabularySize: number;
}

/** Overlap of neighboring windows, as a share of the tokens of a window. */
const windowOverlap = 0.25;

/**
 * Encodes an item as token sequences: truncated or split into windows if the request allows it. Otherwise returns
 * the reason for refusing the item.
 */
export function encodeItem(
  item: EncoderItem,
  tokenizer: TextTokenizer,
  template: SequenceTemplate,
  limits: EncodingLimits,
): readonly EncodedSequence[] | Exclude<EncoderOutcome, { tokens: number }> {
  if ('sequence' in item) return encodedSequence(item.sequence, limits);
  if ('query' in item) return encodePair(item, tokenizer, template, limits);
  const room = limits.maxInputTokens - template.singleMarks;
  const ids = 'ids' in item ? item.ids : tokenizer.encode(item.text);
  const unknownToken = ids.find((id) => id >= limits.vocabularySize);
  if (unknownToken !== undefined) return { unknownToken };
  const wrapped = template.wrap(ids);
  if (wrapped.ids.length <= limits.maxInputTokens) return [wrapped];
  if ('inWindows' in item) return windowsOf(ids, room).map((window) => template.wrap(window));
  if (!item.truncate) return { tooLong: wrapped.ids.length };
  return [template.wrap(ids.slice(0, room))];
}

function encodedSequence(
  sequence: EncodedSequence,
  { maxInputTokens }: EncodingLimits,
): readonly EncodedSequence[] | { tooLong: number } {
  const tokens = sequence.ids.length;
  return tokens > maxInputTokens ? { tooLong: tokens } : [sequence];
}

function windowsOf(ids: readonly number[], room: number): number[][] {
  const starts = windowStarts(ids.length, room, Math.floor(room * windowOverlap));
  return starts.map((start) => ids.slice(start, start + room));
}

/** Truncates the passage first; the query keeps at most half of the tokens, so that part of the passage remains. */
function encodePair(
  { query, passage, truncate }: Extract<EncoderItem, { query: string }>,
  tokenizer: TextTokenizer,
  template: SequenceTemplate,
  { maxInputTokens }: EncodingLimits,
): readonly EncodedSequence[] | { tooLong: number } {
  const room = maxInputTokens - template.pairMarks;
  const passageIds = tokenizer.encode(passage);
  const queryIds = tokenizer.encode(query);
  const tokens = queryIds.length + passageIds.length + template.pairMarks;
  if (!truncate && tokens > maxInputTokens) return { tooLong: tokens };
  const queryRoom = Math.max(Math.floor(room / 2), room - passageIds.length);
  const queryPart = queryIds.slice(0, queryRoom);
  return [template.wrapPair(queryPart, passageIds.slice(0, room - queryPart.length))];
}
