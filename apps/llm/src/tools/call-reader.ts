import type { Tool, ToolCallDelta } from '#contracts';
import type { ToolFormat } from './tool-format.js';

/** What a piece of text turned out to be. */
export interface ParsedPiece {
  text: string;
  toolCalls: ToolCallDelta[];
}

/** Finds the calls in an answer while it is written. No part of a call is ever let through as text. */
export interface CallReader {
  /** Calls begun so far. */
  readonly calls: number;
  push(text: string): ParsedPiece;
  /** The answer has ended: what was held back because it might have become a call. */
  end(): ParsedPiece;
}

export interface CallReaderOptions {
  format: ToolFormat;
  /** By the name that the model uses. */
  tools: ReadonlyMap<string, Tool>;
  newCallId: () => string;
  /** Marks around an answer, which are removed. */
  marks?: { open: string; close: string };
}
