import type { ChatMessage, TokenUsage } from '#platform/contracts';
import type { HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { ChatService } from '../../chat/chat.service.js';
import type { OpenedModel } from '../../chat/opened-model.js';

export interface SummaryRequest {
  messages: readonly ChatMessage[];
  /** The language model. */
  model: OpenedModel;
  /** Limit for the tokens of the summary. */
  maxTokens: number;
  /** Characters of the conversation that the model reads in one pass. */
  pieceLength: number;
  /** The caller's instructions for the summary. */
  instructions?: string;
}

export interface Summary {
  text: string;
  usage: TokenUsage;
}

/** Limit for the passes over a long conversation. Earlier pieces are left out, and the summary says so. */
const maxPieces = 16;

const task =
  'You keep the notes of a conversation between a user and an assistant that calls tools. Write down, in few words and ' +
  'without comment, what the user wants, what was decided, what was found out, and what is still to do. Keep names, ' +
  'numbers and paths exactly.';

/** Summarizes a conversation with the language model, piece by piece where it is too long for one pass. */
@Injectable()
export class Summarizer {
  constructor(@Inject(ChatService) private readonly chat: ChatService) {}

  /** Errors: the errors of the language model. */
  async summarize(request: SummaryRequest, call: HttpCall): Promise<Summary> {
    const transcript = request.messages.map(line).join('\n');
    const pieces = split(transcript, request.pieceLength);
    const left = pieces.slice(-maxPieces);
    const usage: TokenUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
    let text = pieces.length > left.length ? '(The beginning was too long and was left out.)' : '';
    for (const piece of left) {
      const notes = await this.#pass(request, { notes: text, piece }, usage, call);
      // Where the model writes no notes, the text itself is kept, so that the conversation is not lost.
      text = notes || `${text}\n${piece}`.trim().slice(-request.pieceLength);
    }
    return { text, usage };
  }

  async #pass(
    { model, maxTokens, instructions }: SummaryRequest,
    { notes, piece }: { notes: string; piece: string },
    usage: TokenUsage,
    call: HttpCall,
  ): Promise<string> {
    const soFar = notes === '' ? '' : `Your notes so far:\n${notes}\n\n`;
    const messages: ChatMessage[] = [
      { role: 'system', content: [instructions ?? [], task].flat().join('\n\n') },
      { role: 'user', content: `${soFar}The conversation:\n${piece}\n\nWrite the notes.` },
    ];
    const parameters = { max_tokens: maxTokens, temperature: 0 };
    const request = { messages, parameters, includeUsage: true, extra: {} };
    const run = await this.chat.startWith(model, request, call);
    let text = '';
    for await (const chunk of run.chunks) {
      text += chunk.text;
      if (chunk.usage) add(usage, chunk.usage);
    }
    return text.trim();
  }
}

function line({ role, content, toolCalls = [], images = [] }: ChatMessage): string {
  const calls = toolCalls.map(({ name, input }) => `(calls ${name} with ${input})`);
  const shown = images.map(() => '(shows an image)');
  return `${role}: ${[content, ...shown, ...calls].filter((text) => text !== '').join(' ')}`;
}

/** Splits a text into pieces of limited length, at line ends where possible. */
function split(text: string, length: number): string[] {
  const pieces: string[] = [];
  for (let rest = text; rest !== '';) {
    const end = rest.length <= length ? rest.length : rest.lastIndexOf('\n', length);
    const cut = end > 0 ? end : length;
    pieces.push(rest.slice(0, cut));
    rest = rest.slice(cut).replace(/^\n/, '');
  }
  return pieces;
}

function add(sum: TokenUsage, usage: TokenUsage): void {
  sum.promptTokens += usage.promptTokens;
  sum.completionTokens += usage.completionTokens;
  sum.cachedTokens += usage.cachedTokens;
}
