import { z } from 'zod';

/** What a model is asked for: the names of other vendors' models tell that much. */
export type ModelUse = 'answers' | 'vectors' | 'transcripts' | 'ranking';

/** Names that clients send by default, by what they ask for. */
const usualNames: readonly (readonly [ModelUse, RegExp])[] = [
  ['transcripts', /^(whisper-\d+|gpt-4o(-mini)?-transcribe.*)$/],
  ['vectors', /^text-embedding-/],
  ['answers', /^(gpt-(?!.*(transcribe|tts|realtime|audio|image))|chatgpt-|o\d|codex-)/],
];

export interface ModelAliases {
  /** The usual names stand for the served model of their kind. */
  usual: boolean;
  names: ReadonlyMap<string, string>;
}

/** `MODEL_ALIASES`: `name=model`, and `usual` for the names that clients send by default. */
export const modelAliasesSchema = z
  .string()
  .default('')
  .transform((text, context): ModelAliases => {
    const entries = text
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean);
    const names = new Map<string, string>();
    for (const entry of entries) {
      const [name = '', model = '', ...rest] = entry.split('=').map((part) => part.trim());
      if (entry === 'usual') continue;
      if (name === '' || model === '' || rest.length > 0)
        context.addIssue({ code: 'custom', message: `must be usual or name=model, but has ${entry}` });
      names.set(name, model);
    }
    return { usual: entries.includes('usual'), names };
  });

/**
 * What a name stands for: a model, or whatever model is served for this use (`served`). Undefined where it is no alias.
 */
export function aliasOf(
  { usual, names }: ModelAliases,
  name: string,
  use: ModelUse,
): { model: string } | 'served' | undefined {
  const model = names.get(name);
  if (model !== undefined) return { model };
  const isUsual = usual && usualNames.some(([kind, pattern]) => kind === use && pattern.test(name));
  return isUsual ? 'served' : undefined;
}
