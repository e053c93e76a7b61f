import type { ChatMessage } from '#platform/contracts';

/** A fence, code in a line, or numbers of citations with the space before them. */
const codeOrMarkers = /^ {0,3}(```|~~~)[^]*?(?:^ {0,3}\1|$(?![^]))|`[^`\n]*`|(?:[ \t]*\[\d{1,3}\])+(?!\()/gm;

/** An earlier answer without its numbers `[n]`: the passages of this question have other numbers. */
export function withoutMarkers(message: ChatMessage): ChatMessage {
  if (message.role !== 'assistant' || !message.content.includes('[')) return message;
  const content = message.content.replaceAll(codeOrMarkers, (found) =>
    found.trimStart().startsWith('[') ? '' : found,
  );
  return content === message.content ? message : { ...message, content };
}
