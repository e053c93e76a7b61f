import { invalidField, type SpeechFormat } from '#contracts';

/** One text for a thread that speaks. */
export interface SynthesizerCall {
  /** Pieces in the letters of the voice, spoken one after the other. */
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

/** OpenAI's names, so that its clients work as they are. The voices themselves are different ones. */
const openAiNames: Readonly<Record<string, FliteVoice>> = {
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
};

/** The voice for a name of a request. Errors: invalid_request that lists the names. */
export function fliteVoiceOf(name = 'default'): FliteVoice {
  const own = fliteVoices.find((voice) => voice === name);
  const voice = own ?? (Object.hasOwn(openAiNames, name) ? openAiNames[name] : undefined);
  if (voice) return voice;
  const names = [...fliteVoices, ...Object.keys(openAiNames)].join(', ');
  throw invalidField(
    'voice',
    `${JSON.stringify(name.slice(0, 64))} is not a voice of this model. Voices: ${names}`,
  );
}
