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

/** Settings for questions, stored in the browser. */
interface Settings {
  /** A mega service or a model; undefined: chatqna, or the first mega service of the list. */
  model?: string;
  /** Parameters that differ from their defaults, by mega service or model. */
  parameters: Record<string, Record<string, unknown>>;
}

/** The settings of the chat. */
export const settings = new Stored<Settings>('meganest-chat', { parameters: {} });

/** Names of the mega services and of the language models that can answer questions. */
interface Answerers {
  megaServices: string[];
  models: string[];
}

/** The mega services and models that answer text questions. */
export function useAnswerers(): Answerers {
  return answerersOf(useMegaServices().data ?? [], useModels().data ?? []);
}

function answerersOf(megaServices: readonly MegaService[], models: readonly ListedModel[]): Answerers {
  return {
    megaServices: answering(megaServices, models),
    models: models.filter(isLanguageModel).map(({ id }) => id),
  };
}

/** Mega services that answer text questions: `/v1/models` lists them. Mega services for speech need audio. */
function answering(megaServices: readonly MegaService[], models: readonly ListedModel[]): string[] {
  const names = new Set(models.map(({ id }) => id));
  return megaServices
    .filter(({ name, nodes }) => names.has(name) && !nodes.some(({ service }) => service === 'asr'))
    .map(({ name }) => name);
}

function isLanguageModel({ service }: ListedModel): boolean {
  return service === 'llm';
}

/** The current mega service or model; undefined until the lists are read. */
export function useModel(): string | undefined {
  const answerers = useAnswerers();
  return chosenOf(answerers, useStored(settings).model);
}

/** The language model for questions about files of a conversation: the chosen model, else the first one. */
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

/** Sets a parameter of a mega service or a model for the next questions; undefined: its default. */
export function setParameter(model: string, name: string, value: unknown): void {
  settings.update((current) => {
    const { [name]: _before, ...others } = current.parameters[model] ?? {};
    const changed = value === undefined ? others : { ...others, [name]: value };
    return { ...current, parameters: { ...current.parameters, [model]: changed } };
  });
}

/** Options of a question for a model. */
export function askOf(model: string, store?: string): Ask {
  return { model, parameters: settings.get().parameters[model] ?? {}, ...(store && { store }) };
}

/** The title of a conversation. Conversations from other clients may not have a title. */
export function titleOf({ metadata }: Conversation): string {
  return metadata['title'] || text('untitled');
}

/** Unsent text by conversation. The key of a new conversation is `new`. */
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

/** Puts a question that was not asked back into the question field, unless the user has begun another one. */
export function returnDraft(conversation: string, question: string): void {
  if (!drafts.get()[conversation]) setDraft(conversation, question);
}

/** Joins two texts with one space. */
export function joined(before: string, text: string): string {
  return [before.trimEnd(), text.trim()].filter(Boolean).join(' ');
}
