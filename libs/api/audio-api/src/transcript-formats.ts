import { deflateSync } from 'node:zlib';
import { z } from 'zod';
import type { MegaNestError, TranscriptSegment } from '#platform/contracts';
import { errorEnvelope } from '#platform/service-kit';
import type { AudioRequest } from './audio-request.js';
import { appended, type BegunTranscript, type Transcript } from './transcription.js';

/** Compression ratio of a text under zlib; repetitive text has a high ratio. */
export function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return bytes.length === 0 ? 0 : bytes.length / deflateSync(bytes).length;
}

const logprobSchema = z.object({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()) });

/** Response in the format `json`. */
export const transcriptionSchema = z.object({
  text: z.string(),
  logprobs: z.array(logprobSchema).optional(),
  usage: z.object({ type: z.literal('duration'), seconds: z.int() }),
});

/** Response in the format `verbose_json`. */
export const verboseTranscriptionSchema = z.object({
  task: z.enum(['transcribe', 'translate']),
  language: z.string().describe('English name of the language, in lower case'),
  duration: z.number().describe('Seconds'),
  text: z.string(),
  segments: z
    .array(
      z.object({
        id: z.int(),
        seek: z.int(),
        start: z.number(),
        end: z.number(),
        text: z.string(),
        tokens: z.array(z.int()),
        temperature: z.number(),
        avg_logprob: z.number(),
        compression_ratio: z.number(),
        no_speech_prob: z.number(),
      }),
    )
    .optional(),
  words: z.array(z.object({ word: z.string(), start: z.number(), end: z.number() })).optional(),
  usage: z.object({ type: z.literal('duration'), seconds: z.int() }),
});

type Wishes = Pick<AudioRequest, 'format' | 'words' | 'segments' | 'logprobs'> & {
  task: 'transcribe' | 'translate';
};

/** Formats a transcript: an object for the JSON formats, text for the others. */
export function formatTranscript(transcript: Transcript, wishes: Wishes): object | string {
  if (wishes.format === 'text') return `${transcript.text}\n`;
  if (wishes.format === 'srt') return subtitles(transcript.segments);
  if (wishes.format === 'vtt') return webVtt(transcript.segments);
  return wishes.format === 'json' ? plain(transcript, wishes) : verbose(transcript, wishes);
}

function plain(transcript: Transcript, { logprobs }: Wishes): z.input<typeof transcriptionSchema> {
  return {
    text: transcript.text,
    ...(logprobs && { logprobs: transcript.segments.flatMap(logprobsOf) }),
    usage: usageOf(transcript),
  };
}

function verbose(
  transcript: Transcript,
  { task, words, segments }: Wishes,
): z.input<typeof verboseTranscriptionSchema> {
  return {
    task,
    language: languageName(transcript.audio.language),
    duration: transcript.audio.seconds,
    text: transcript.text,
    ...(segments && { segments: transcript.segments.map(verboseSegment) }),
    ...(words && { words: transcript.segments.flatMap((segment) => segment.words ?? []) }),
    usage: usageOf(transcript),
  };
}

function verboseSegment({ id, start, end, text, tokens, temperature, ...rest }: TranscriptSegment) {
  return {
    id,
    // Whisper's unit: frames of 10 ms.
    seek: Math.round(start * 100),
    start,
    end,
    text,
    tokens,
    temperature,
    avg_logprob: rest.avgLogprob,
    compression_ratio: compressionRatio(text),
    no_speech_prob: rest.noSpeechProb ?? 0,
  };
}

/** Log probabilities in OpenAI's format, with the bytes of each token. */
export function logprobsOf({ logprobs = [] }: TranscriptSegment) {
  return logprobs.map(({ token, logprob }) => ({ token, logprob, bytes: [...Buffer.from(token)] }));
}

/** Each segment: `1` / `00:00:01,500 --> 00:00:03,000` / text / blank line. */
function subtitles(segments: readonly TranscriptSegment[]): string {
  return segments
    .map(
      ({ start, end, text }, index) =>
        `${index + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${text}\n\n`,
    )
    .join('');
}

function webVtt(segments: readonly TranscriptSegment[]): string {
  const cues = segments.map(
    ({ start, end, text }) => `${clock(start, '.')} --> ${clock(end, '.')}\n${text}\n\n`,
  );
  return `WEBVTT\n\n${cues.join('')}`;
}

function clock(seconds: number, point: ',' | '.'): string {
  const milliseconds = Math.round(seconds * 1000);
  const part = (divisor: number, base: number) =>
    String(Math.floor(milliseconds / divisor) % base).padStart(2, '0');
  const hours = String(Math.floor(milliseconds / 3_600_000)).padStart(2, '0');
  const rest = String(milliseconds % 1000).padStart(3, '0');
  return `${hours}:${part(60_000, 60)}:${part(1000, 60)}${point}${rest}`;
}

/** Usage: whole seconds of audio. */
export function usageOf({ audio }: Transcript) {
  return { type: 'duration' as const, seconds: Math.ceil(audio.seconds) };
}

const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'code' });

function languageName(code: string): string {
  try {
    return (names.of(code) ?? code).toLowerCase();
  } catch {
    return code;
  }
}

const eventLogprobs = z
  .array(z.object({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()) }))
  .optional();

/** OpenAI's transcription events. */
export const transcriptEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('transcript.text.delta'), delta: z.string(), logprobs: eventLogprobs }),
  z.object({ type: z.literal('transcript.text.done'), text: z.string(), logprobs: eventLogprobs }),
]);

/** Yields a delta event for each segment, and the whole text at the end. */
export async function* transcriptFrames(
  { segments }: BegunTranscript,
  withLogprobs: boolean,
): AsyncGenerator<string> {
  let text = '';
  const all: ReturnType<typeof logprobsOf> = [];
  for await (const segment of segments) {
    const delta = appended(segment, text === '');
    text += delta;
    const own = logprobsOf(segment);
    all.push(...own);
    yield frame({ type: 'transcript.text.delta', delta, ...(withLogprobs && { logprobs: own }) });
  }
  yield frame({ type: 'transcript.text.done', text, ...(withLogprobs && { logprobs: all }) });
}

/** Formats an error within the stream. */
export function transcriptErrorFrame(error: MegaNestError): string {
  return `event: error\ndata: ${JSON.stringify({ type: 'error', ...errorEnvelope(error) })}\n\n`;
}

function frame(event: z.input<typeof transcriptEventSchema>): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
