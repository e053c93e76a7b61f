import type { AttachedSources } from './attached-sources.js';
import type { AssistantBlock, ToolResultBlock, ToolResultContent, UserBlock } from './blocks.js';
import type { AnthropicMessage } from './messages-request.js';

/** A message of a chat completion request. */
export type ChatBodyMessage = Record<string, unknown> & { role: string };

/** Opens the thinking of an earlier answer; undefined for a block that this server did not write. */
export type OpenThinking = (block: {
  thinking?: string | undefined;
  signature: string;
}) => string | undefined;

export interface ConvertedMessages {
  messages: ChatBodyMessage[];
  /** The path of each message, and of each of its parts, in the request of the client. */
  paths: { message: string; parts: readonly string[] }[];
  /** A thinking block was left out. */
  leavesOutThinking: boolean;
}

interface Placed {
  part: Record<string, unknown>;
  path: string;
}

/** Converts the messages of Anthropic's API to those of a chat completion request. */
export class ChatMessageWriter {
  readonly #converted: ConvertedMessages = { messages: [], paths: [], leavesOutThinking: false };

  constructor(
    private readonly sources: AttachedSources,
    private readonly openThinking: OpenThinking,
  ) {}

  convert(messages: readonly AnthropicMessage[]): ConvertedMessages {
    for (const [index, message] of messages.entries()) this.#take(message, `messages[${index}]`);
    return this.#converted;
  }

  #take(message: AnthropicMessage, path: string): void {
    const { role, content } = message;
    if (typeof content === 'string') return this.#add({ role, content }, path);
    if (role === 'system')
      return this.#add({ role, content: content.map(({ text }) => text).join('\n\n') }, path);
    if (role === 'user') return this.#takeUser(content, path);
    this.#takeAssistant(content, path);
  }

  /** The results of tools are messages of their own, before the rest. */
  #takeUser(blocks: readonly UserBlock[], path: string): void {
    const parts: Placed[] = [];
    for (const [index, block] of blocks.entries()) {
      const place = `${path}.content[${index}]`;
      if (block.type === 'tool_result') this.#addResult(block, place);
      else parts.push(...this.#partsOf(block, place));
    }
    if (parts.length > 0) this.#addParts({ role: 'user' }, path, parts);
  }

  #addResult({ tool_use_id, content, is_error }: ToolResultBlock, path: string): void {
    const head = { role: 'tool', tool_call_id: tool_use_id };
    const mark = is_error === true ? 'The tool failed: ' : '';
    if (typeof content === 'string' || content == null)
      return this.#add({ ...head, content: `${mark}${content ?? ''}` }, path);
    const parts = content.flatMap((block, index) => this.#partsOf(block, `${path}.content[${index}]`));
    const marked = mark === '' ? parts : [{ part: { type: 'text', text: mark }, path }, ...parts];
    if (marked.length === 0) return this.#add({ ...head, content: '' }, path);
    this.#addParts(head, path, marked);
  }

  #takeAssistant(blocks: readonly AssistantBlock[], path: string): void {
    const texts: string[] = [];
    const thoughts: string[] = [];
    const calls: object[] = [];
    for (const block of blocks) {
      if (block.type === 'text') texts.push(block.text);
      else if (block.type === 'tool_use')
        calls.push({
          id: block.id,
          type: 'function',
          function: { name: block.name, arguments: JSON.stringify(block.input) },
        });
      else this.#takeThinking(block, thoughts);
    }
    this.#add(
      {
        role: 'assistant',
        content: texts.join(''),
        ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n\n') }),
        ...(calls.length > 0 && { tool_calls: calls }),
      },
      path,
    );
  }

  #takeThinking(
    block: Extract<AssistantBlock, { type: 'thinking' | 'redacted_thinking' }>,
    thoughts: string[],
  ): void {
    const sealed =
      block.type === 'thinking'
        ? { thinking: block.thinking, signature: block.signature ?? '' }
        : { signature: block.data };
    const thought = this.openThinking(sealed);
    if (thought === undefined) this.#converted.leavesOutThinking = true;
    else thoughts.push(thought);
  }

  #partsOf(block: ToolResultContent, path: string): Placed[] {
    switch (block.type) {
      case 'text':
        return [{ part: { type: 'text', text: block.text }, path }];
      case 'image': {
        const { source } = block;
        const url = source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;
        return [{ part: { type: 'image_url', image_url: { url } }, path }];
      }
      case 'search_result':
        return [{ part: { ...this.sources.addSearchResult(block) }, path }];
      default: {
        const about = block.context ? [{ part: { type: 'text', text: block.context }, path }] : [];
        return [...about, { part: { ...this.sources.addDocument(block) }, path }];
      }
    }
  }

  #addParts(head: ChatBodyMessage, path: string, parts: readonly Placed[]): void {
    this.#converted.messages.push({ ...head, content: parts.map(({ part }) => part) });
    this.#converted.paths.push({ message: path, parts: parts.map((each) => each.path) });
  }

  #add(message: ChatBodyMessage, path: string): void {
    this.#converted.messages.push(message);
    this.#converted.paths.push({ message: path, parts: [] });
  }
}
