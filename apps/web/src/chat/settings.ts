import {
  megaServicesQuery,
  modelsQuery,
  queryClient,
  useMegaServices,
  useModels,
  type Conversation,
  type ListedModel,
  type MegaService,
} from '../api/queries';
import { text } from '../i18n/text';
import { Stored, useStored } from '../stored';
import type { Ask } from './runs';

/** What questions are asked with; kept in the browser. */
interface Settings {
  /** A mega service or a model; undefined: chatqna, or the first mega service of the list. */
  model?: string;
  /** Parameters that differ from their defaults, by mega service or model. */
  parameters: Record<string, Record<string, unknown>>;
}

/** The settings of the chat. */
export const settings = new Stored<Settings>('meganest-chat', { parameters: {} });

/** Names of what answers questions: mega services, and language models alone. */
interface Answerers {
  megaServices: string[];
  models: string[];
}

/** Which mega services and models answer a question of text. */
export function useAnswerers(): Answerers {
  return answerersOf(useMegaServices().data ?? [], useModels().data ?? []);
}

function answerersOf(megaServices: readonly MegaService[], models: readonly ListedModel[]): Answerers {
  return {
    megaServices: answering(megaServices, models),
    models: models.filter(isLanguageModel).map(({ id }) => id),
  };
}

/** `/v1/models` has the mega services that give answers; those for speech want audio. */
function answering(megaServices: readonly MegaService[], models: readonly ListedModel[]): string[] {
  const names = new Set(models.map(({ id }) => id));
  return megaServices
    .filter(({ name, nodes }) => names.has(name) && !nodes.some(({ service }) => service === 'asr'))
    .map(({ name }) => name);
}

function isLanguageModel({ service }: ListedModel): boolean {
  return service === 'llm';
}

/** The mega service or model that answers now; undefined until the lists are read. */
export function useModel(): string | undefined {
  const answerers = useAnswerers();
  return chosenOf(answerers, useStored(settings).model);
}

/** The language model that answers about files of a conversation: the one that is chosen, else the first. */
export async function readLanguageModel(): Promise<string | undefined> {
  const models = (await queryClient.ensureQueryData(modelsQuery)).filter(isLanguageModel);
  const { model } = settings.get();
  return (models.find(({ id }) => id === model) ?? models[0])?.id;
}

/** {@link useModel} for a question that is asked before the lists are read. */
export async function readModel(): Promise<string | undefined> {
  const megaServices = await queryClient.ensureQueryData(megaServicesQuery);
  const models = await queryClient.ensureQueryData(modelsQuery);
  return chosenOf(answerersOf(megaServices, models), settings.get().model);
}

function chosenOf({ megaServices, models }: Answerers, chosen: string | undefined): string | undefined {
  const names = [...megaServices, ...models];
  const wanted = [chosen, 'chatqna'].find((name) => name !== undefined && names.includes(name));
  return wanted ?? names[0];
}

/** What to ask a model with. */
export function askOf(model: string, store?: string): Ask {
  return { model, parameters: settings.get().parameters[model] ?? {}, ...(store && { store }) };
}

/** The title of a conversation; those that other clients made may have none. */
export function titleOf({ metadata }: Conversation): string {
  return metadata['title'] || text('untitled');
}

/** What was written and not sent yet, by conversation; that of a new one is `new`. */
export const drafts = new Stored<Readonly<Record<string, string>>>(
  'meganest-drafts',
  {},
  window.sessionStorage,
);

/** Replaces the draft of a conversation. */
export function setDraft(conversation: string, text: string): void {
  drafts.update(({ [conversation]: _before, ...others }) =>
    text ? { ...others, [conversation]: text } : others,
  );
}

/** Two texts with one space between them. */
export function joined(before: string, text: string): string {
  return [before.trimEnd(), text.trim()].filter(Boolean).join(' ');
}
