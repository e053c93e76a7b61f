import type { TranscriptSegment } from '#contracts';
import { z } from 'zod';
import type { AudioRequest } from './audio-request.js';
import { compressionRatio } from './compression-ratio.js';
import type { Transcript } from './transcript.js';

const logprobSchema = z.object({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()) });

export const transcriptionSchema = z.object({
  text: z.string(),
  logprobs: z.array(logprobSchema).optional(),
  usage: z.object({ type: z.literal('duration'), seconds: z.int() }),
});

export const verboseTranscriptionSchema = z.object({
  task: z.enum(['transcribe', 'translate']),
  language: z.string().describe('Its name in English, in lower case'),
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

/** The answer in the form that was asked for: an object for the JSON forms, text for the others. */
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
    // Whisper's own measure: frames of 10 ms.
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

/** Logarithms of probabilities as OpenAI writes them, with the token's bytes. */
export function logprobsOf({ logprobs = [] }: TranscriptSegment) {
  return logprobs.map(({ token, logprob }) => ({ token, logprob, bytes: [...Buffer.from(token)] }));
}

/** `1` / `00:00:01,500 --> 00:00:03,000` / text / blank line. */
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

/** What is counted: whole seconds of audio. */
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
