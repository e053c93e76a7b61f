import type { MegaNestError, ModelInfo } from '#platform/contracts';
import type { MegaServiceDefinition, NodeTarget } from '#platform/dag';
import { createHash } from 'node:crypto';
import type { ResolvedModel } from '../models/model-catalog.js';
import { modalitiesOf, textOnly, type Modalities } from './chat-model.js';

/** Services that answer the conversation with a language model. */
const answering: ReadonlySet<string> = new Set(['llm', 'llm.agent', 'llm.write']);

interface OpenedModelParts extends ResolvedModel {
  definition?: MegaServiceDefinition;
  languageModel?: string | undefined;
  info?: ModelInfo | undefined;
  problem?: MegaNestError;
}

/** The model of a request, whose name is resolved and which is described once, for every part that asks about it. */
export class OpenedModel {
  /** The caller names the model itself and not an alias, so that no other model may answer. */
  readonly isNamed: boolean;
  /** The mega service that answers; absent: the language model itself. */
  readonly definition: MegaServiceDefinition | undefined;
  /** Name of the language model. Absent if neither the request, the mega service nor the environment names one. */
  readonly languageModel: string | undefined;
  /** The language model. Absent if the mega service calls none, and while it is away. */
  readonly info: ModelInfo | undefined;
  readonly #name: string | undefined;
  readonly #problem: MegaNestError | undefined;

  constructor({ model, isNamed, definition, languageModel, info, problem }: OpenedModelParts) {
    this.isNamed = isNamed;
    this.definition = definition;
    this.languageModel = languageModel;
    this.info = info;
    this.#name = model;
    this.#problem = problem;
  }

  /** The name in answers; empty for a default language model that is away. */
  get name(): string {
    return this.#name ?? this.definition?.name ?? '';
  }

  /** The resolved name, for another process that opens the same model. */
  get resolved(): ResolvedModel {
    return { model: this.#name, isNamed: this.isNamed };
  }

  /** The language model that answers by itself. Errors: model_not_found, service_unavailable. */
  require(): ModelInfo {
    if (this.info) return this.info;
    throw this.#problem ?? new Error(`${this.name} calls no language model.`);
  }

  /** The language model alone, for a text that needs no documents. Errors: those of {@link require}. */
  get languageModelAlone(): OpenedModel {
    const info = this.require();
    return new OpenedModel({ model: info.id, isNamed: true, languageModel: info.id, info });
  }

  /**
   * Whether it can call the caller's tools and follow a response format: the language model of a mega service must be
   * its last node. A mega service whose model is away takes none; for a language model that is away the answer itself
   * reports the error.
   */
  get takesForms(): boolean {
    const { definition, info } = this;
    if (!definition) return info?.callsTools !== false;
    const isLast = definition.nodes.get(definition.output)?.target.service === 'llm';
    return isLast && info !== undefined && info.callsTools !== false;
  }

  /**
   * The kinds of input. A mega service reads those of its language model if that writes an answer to the conversation,
   * otherwise text, also while the model is away. Errors: those of {@link require}.
   */
  get input(): Modalities {
    const { definition, info } = this;
    if (!definition) return modalitiesOf(this.require());
    return info && writesAnswers(definition) ? modalitiesOf(info) : textOnly;
  }

  /**
   * A hash of the weights; of a mega service, of its definition and of the weights of its language model. While that
   * model is away, the hash of the definition alone.
   */
  get revision(): string {
    const { definition, info } = this;
    if (!definition) return this.require().revision;
    if (!info) return definition.revision;
    return createHash('sha256').update(`${definition.revision} ${info.revision}`).digest('hex').slice(0, 12);
  }
}

/** Whether a language model answers the conversation in one of a mega service's nodes, at least as a fallback. */
function writesAnswers({ nodes }: MegaServiceDefinition): boolean {
  const isWriter = ({ megaService, service }: NodeTarget) =>
    megaService ? writesAnswers(megaService) : answering.has(service);
  return [...nodes.values()].some(
    ({ target, fallback }) => isWriter(target) || (fallback !== undefined && isWriter(fallback)),
  );
}
