import { MegaNestError } from '#platform/contracts';
import { Template } from '@huggingface/jinja';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { readOptionalJson } from '../model/model-files.js';
import type { TemplateMessage } from './template-message.js';

/** A special token in tokenizer_config.json: its text, or an object with it. */
const tokenSchema = z.union([z.string(), z.looseObject({ content: z.string() })]).nullish();

/** The special tokens that templates know, by their names there. */
const specialTokenSchemas = {
  bos_token: tokenSchema,
  eos_token: tokenSchema,
  unk_token: tokenSchema,
  sep_token: tokenSchema,
  pad_token: tokenSchema,
  cls_token: tokenSchema,
  mask_token: tokenSchema,
};
const specialTokenNames = Object.keys(specialTokenSchemas) as (keyof typeof specialTokenSchemas)[];

/** What a chat template reads of tokenizer_config.json. */
export const templateConfigSchema = z.looseObject({
  chat_template: z
    .union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))])
    .nullish(),
  ...specialTokenSchemas,
});
type TemplateConfig = z.infer<typeof templateConfigSchema>;

/** The chat template of a model: a Jinja template that renders a conversation as a prompt. */
export class ChatTemplate {
  private readonly compiled = new Map<string, Template>();

  private constructor(
    /** Source of the template; of several, of the one that shows tools. */
    readonly source: string,
    /** Source of the template for conversations without tools. */
    private readonly withoutTools: string,
    private readonly specialTokens: Readonly<Record<string, string>>,
  ) {}

  /**
   * The template in tokenizer_config.json, or in the file beside it that present libraries write; undefined if the
   * model has none.
   */
  static async load(directory: string, config: TemplateConfig): Promise<ChatTemplate | undefined> {
    const given = config.chat_template ?? (await readTemplateFile(directory));
    if (!given || given.length === 0) return undefined;
    const named = typeof given === 'string' ? [{ name: 'default', template: given }] : given;
    const find = (name: string) => (named.find((each) => each.name === name) ?? named[0]!).template;
    return new ChatTemplate(find('tool_use'), find('default'), specialTokensOf(config));
  }

  /**
   * Renders a prompt up to the start of the assistant's turn. The server's own values override the caller's variables.
   * Errors: invalid_request by the template.
   */
  render(messages: readonly TemplateMessage[], variables: Readonly<Record<string, unknown>>): string {
    const { tools = null } = variables;
    try {
      return this.compile(tools === null ? this.withoutTools : this.source).render({
        ...this.specialTokens,
        ...variables,
        tools,
        documents: null,
        messages,
        add_generation_prompt: true,
      });
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      throw new MegaNestError('invalid_request', {
        detail: `The model's chat template refuses these messages: ${detail}`,
        param: 'messages',
        cause: error,
      });
    }
  }

  private compile(source: string): Template {
    let template = this.compiled.get(source);
    if (!template) this.compiled.set(source, (template = new Template(source)));
    return template;
  }
}

function specialTokensOf(config: TemplateConfig): Record<string, string> {
  const tokens: Record<string, string> = {};
  for (const name of specialTokenNames) {
    const token = config[name];
    const text = typeof token === 'object' ? token?.content : token;
    if (text) tokens[name] = text;
  }
  return tokens;
}

const templateFileSchema = z.looseObject({ chat_template: z.string() });

/** Reads the chat template of a model whose tokenizer_config.json has none. */
async function readTemplateFile(directory: string): Promise<string | undefined> {
  const file = path.join(directory, 'chat_template.jinja');
  if (existsSync(file)) return readFile(file, 'utf8');
  const stored = await readOptionalJson(directory, 'chat_template.json', templateFileSchema);
  return stored?.chat_template;
}
