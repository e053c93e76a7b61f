import { apiKey, apiUrl } from '../../api/connection';
import recorderUrl from './recorder-worklet.js?url';

/** An event of `/v1/realtime` about a turn of speech. */
interface LiveEvent {
  type: string;
  item_id?: string;
  delta?: string;
  transcript?: string;
  error?: { message?: string };
}

/** The default sample rate of the gateway in Hz. */
const sampleRate = 24_000;
const transcription = 'conversation.item.input_audio_transcription.';

/** Transcribes the microphone: first the stable pieces of a sentence, then the whole sentence. */
export class Dictation {
  /**
   * Resolves after {@link finish}, when the last words are transcribed. Errors: no microphone, errors of the gateway.
   */
  readonly ended: Promise<void>;
  readonly #socket: WebSocket;
  readonly #turns = new Map<string, string>();
  readonly #waiting = new Set<string>();
  readonly #release: (() => void)[] = [];
  #speaking = false;
  #finishing = false;
  #failure: Error | undefined;

  constructor(private readonly onText: (text: string) => void) {
    const address = new URL(`${apiUrl}/realtime?intent=transcription`);
    address.protocol = address.protocol.replace('http', 'ws');
    const key = apiKey.get();
    // A page cannot set headers of a WebSocket. OpenAI's clients send the key as a protocol instead.
    this.#socket = new WebSocket(address, ['realtime', ...(key ? [`openai-insecure-api-key.${key}`] : [])]);
    this.ended = new Promise((resolve, reject) => {
      this.#socket.addEventListener('close', ({ reason }) => {
        this.#letGo();
        const failure = this.#failure ?? (this.#finishing ? undefined : new Error(reason || 'network'));
        if (failure) reject(failure);
        else resolve();
      });
    });
    this.#socket.addEventListener('message', ({ data }) => this.#read(JSON.parse(String(data)) as LiveEvent));
    this.#socket.addEventListener(
      'open',
      () => void this.#record().catch((error: Error) => this.#fail(error)),
    );
  }

  /** Stops recording. The recorded speech is still transcribed. */
  finish(): void {
    this.#finishing = true;
    this.#letGo();
    if (this.#speaking) this.#send({ type: 'input_audio_buffer.commit' });
    this.#closeWhenDone();
  }

  /** Ends at once. */
  close(): void {
    this.#finishing = true;
    this.#letGo();
    this.#socket.close();
  }

  async #record(): Promise<void> {
    // Everything is prepared before the microphone starts, so that the first word is not lost.
    const audio = new AudioContext({ sampleRate });
    this.#release.push(() => void audio.close().catch(() => undefined));
    await audio.audioWorklet.addModule(recorderUrl);
    const recorder = new AudioWorkletNode(audio, 'recorder', { numberOfOutputs: 0 });
    recorder.port.addEventListener('message', ({ data }) => this.#sendSamples(data as Int16Array));
    recorder.port.start();
    const microphone = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
    this.#release.push(() => microphone.getTracks().forEach((track) => track.stop()));
    if (this.#finishing) return this.#letGo();
    audio.createMediaStreamSource(microphone).connect(recorder);
  }

  #sendSamples(samples: Int16Array): void {
    if (this.#finishing) return;
    const bytes = new Uint8Array(samples.buffer);
    this.#send({ type: 'input_audio_buffer.append', audio: btoa(String.fromCharCode(...bytes)) });
  }

  #send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #read({ type, item_id: id = '', delta = '', transcript, error }: LiveEvent): void {
    if (type === 'input_audio_buffer.speech_started') this.#speaking = true;
    if (type === 'input_audio_buffer.speech_stopped') this.#speaking = false;
    if (type === 'input_audio_buffer.committed') {
      this.#speaking = false;
      this.#waiting.add(id);
    }
    if (type === `${transcription}delta`) this.#write(id, (this.#turns.get(id) ?? '') + delta);
    if (type === `${transcription}completed`) this.#write(id, transcript ?? this.#turns.get(id) ?? '');
    if (type === `${transcription}completed` || type === `${transcription}failed`) this.#waiting.delete(id);
    if (type === 'error' || type === `${transcription}failed`) {
      // The turn may have ended just before this commit.
      if (!this.#finishing) return this.#fail(new Error(error?.message ?? type));
      this.#speaking = false;
    }
    this.#closeWhenDone();
  }

  #write(id: string, text: string): void {
    this.#turns.set(id, text);
    this.onText([...this.#turns.values()].filter(Boolean).join(' '));
  }

  #closeWhenDone(): void {
    if (this.#finishing && !this.#speaking && this.#waiting.size === 0) this.#socket.close();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.close();
  }

  #letGo(): void {
    for (const release of this.#release.splice(0)) release();
  }
}
