import {
  audioLimits,
  beginTranscript,
  decodeBase64,
  finishTranscript,
  Transcription,
  type AudioLimits,
} from '#api/audio-api';
import { invalidField, MegaNestError } from '#platform/contracts';
import type { HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { InputFiles, type ReadFile } from '../input-files/input-files.js';

const audioPartSchema = z.looseObject({
  input_audio: z.looseObject({ data: z.string(), format: z.string().optional() }),
});
const filePartSchema = z.looseObject({ file: z.looseObject({}) });

/**
 * Replaces parts of messages by text, because the models read text only: first `input_audio` parts by their transcript
 * from the asr service, then `file` parts by the text of their files, like `input_file` parts of a response.
 */
@Injectable()
export class MessageParts {
  constructor(
    @Inject(Transcription) private readonly transcription: Transcription,
    @Inject(audioLimits) private readonly limits: AudioLimits,
    @Inject(InputFiles) private readonly files: InputFiles,
  ) {}

  /**
   * Replaces the parts in the body of a chat completion request. Errors: invalid_request, the errors of
   * `asr.transcribe` and of {@link InputFiles}, with the path of the part as `param`.
   */
  async read(body: unknown, owner: string, call: HttpCall): Promise<void> {
    for (const { content, index, path } of partsOf(body, 'input_audio'))
      content[index] = { type: 'text', text: await this.#textOfAudio(content[index], path, call) };
    for (const { content, index, path } of partsOf(body, 'file'))
      content[index] = { type: 'text', ...(await this.#readFile(content[index], path, owner, call)) };
  }

  async #textOfAudio(part: unknown, path: string, call: HttpCall): Promise<string> {
    const parsed = audioPartSchema.safeParse(part);
    const param = `${path}.input_audio.data`;
    if (!parsed.success) throw invalidField(param, 'must be audio in base64');
    const audio = decodeBase64(parsed.data.input_audio.data, this.limits, param);
    try {
      const request = { audio, task: 'transcribe' as const, details: false };
      return (await finishTranscript(await beginTranscript(this.transcription.transcribe(request, call))))
        .text;
    } catch (error) {
      if (!(error instanceof MegaNestError) || error.status >= 499) throw error;
      throw MegaNestError.fromBody({ ...error.toBody(), param });
    }
  }

  async #readFile(part: unknown, path: string, owner: string, call: HttpCall): Promise<ReadFile> {
    const param = `${path}.file`;
    const parsed = filePartSchema.safeParse(part);
    if (parsed.success) return this.files.read(parsed.data.file, param, owner, call);
    throw invalidField(param, 'must be an object with file_data or file_id');
  }
}

const bodySchema = z.looseObject({ messages: z.array(z.unknown()) });

/** A part of a message and its place in the content, so that it can be replaced. */
interface MessagePart {
  content: unknown[];
  index: number;
  path: string;
}

/** The parts of a type in the messages of a chat. The schema of the body reports all other problems. */
function partsOf(body: unknown, type: string): MessagePart[] {
  const { messages = [] } = bodySchema.safeParse(body).data ?? {};
  return messages.flatMap((message, position) => {
    const content = (message as { content?: unknown } | null)?.content;
    if (!Array.isArray(content)) return [];
    return content.flatMap((part: { type?: unknown } | null, index) => {
      const path = `messages[${position}].content[${index}]`;
      return part?.type === type ? [{ content, index, path }] : [];
    });
  });
}
