import {
  defineMethod,
  generationChunkSchema,
  healthMethod,
  MegaNestError,
  nodeAnnouncementSchema,
  nodeMetadataKey,
  nodeReplySchema,
  nodeRequestSchema,
  type GenerationChunk,
  type NodeAnnouncement,
  type RpcMethod,
  type ServiceHealth,
} from '#contracts';
import {
  createServiceRegistry,
  type NodeContext,
  type NodeRunner,
  type ServiceKind,
  type ServiceRegistry,
} from '#dag';
import { RpcClient, ServiceDirectory, type CallOptions } from '#messaging';
import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { z } from 'zod';
import { builtInNodes } from './built-in-nodes.js';

/** What of a mega service's request such a service is told. */
type Asked = Pick<z.output<typeof nodeRequestSchema>, 'query' | 'messages'>;

interface Announced {
  method: NodeMethod;
  /** Kind of the output. */
  output: string;
}

/** Calls a service that announced itself: one output, or a stream of them where it streams. */
function callAnnouncedNode(
  client: RpcClient,
  { method, output }: Announced,
  context: NodeContext,
  options: CallOptions,
): Promise<unknown> | AsyncIterable<unknown> {
  const { query, messages } = (context.inputs['conversation'] ?? context.request) as Asked;
  const { inputs, parameters, report } = context;
  const outputs = outputsOf(client.stream(method, { query, messages, inputs, parameters }, options), report);
  const shaped = output === 'answer' ? toChunks(outputs, method.service) : outputs;
  return method.streaming ? shaped : only(shaped, method.service);
}

async function* outputsOf(
  replies: AsyncIterable<z.output<typeof nodeReplySchema>>,
  report: NodeContext['report'],
): AsyncGenerator {
  for await (const { output, report: details } of replies) {
    if (details) report(details);
    yield output;
  }
}

/** A verdict that cuts the branch passes as it is; its answer, and every other one, becomes a chunk of an answer. */
const answerSchema = z.union([
  z.string().transform((text) => ({ text })),
  generationChunkSchema.partial().required({ text: true }),
]);

async function* toChunks(outputs: AsyncIterable<unknown>, service: string): AsyncGenerator {
  let previous: GenerationChunk | undefined;
  for await (const output of outputs) {
    if (previous) yield previous;
    previous = toChunk(output, service);
  }
  // OpenAI's clients wait for a reason why an answer has ended.
  if (previous) yield { finishReason: 'stop', ...previous };
}

function toChunk(output: unknown, service: string): GenerationChunk {
  const parsed = answerSchema.safeParse(output);
  if (parsed.success) return { choice: 0, ...parsed.data };
  const detail = 'an output of the kind "answer" must be a text or an object with a text';
  throw new MegaNestError('bad_upstream', { service, detail });
}

async function only(outputs: AsyncIterable<unknown>, service: string): Promise<unknown> {
  for await (const output of outputs) return output;
  throw new MegaNestError('bad_upstream', { service, detail: 'it ended without an answer' });
}

/** How often NATS's service discovery is asked who is there. */
const lookEveryMs = 2_000;
/** A service counts as running for this long after it was last seen: a busy one may miss a look. */
const presentMs = 3 * lookEveryMs;

type NodeMethod = RpcMethod<typeof nodeRequestSchema, typeof nodeReplySchema>;

interface Sighting {
  /** By the clock of `performance`. */
  at: number;
  answersHealth: boolean;
}

/**
 * The services that announced themselves through NATS's discovery metadata, beside those that every stack has. One that
 * goes away stays known: its nodes answer 503 that names it. A name that every stack has cannot be taken over.
 */
@Injectable()
export class AnnouncedServices implements OnApplicationShutdown {
  readonly #kinds = new Map<string, ServiceKind>(builtInNodes);
  readonly #methods = new Map<string, NodeMethod>();
  /** The announcements as they came, to notice a changed or broken one once. */
  readonly #seen = new Map<string, string>();
  readonly #running = new Map<string, Sighting>();
  readonly #logger = new Logger('services');
  #timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(ServiceDirectory) private readonly directory: ServiceDirectory,
    @Inject(RpcClient) private readonly client: RpcClient,
  ) {}

  /** All services that a YAML file may name; grows while the gateway runs. */
  get registry(): ServiceRegistry {
    return this.#kinds;
  }

  /** Names of the announced services that run. */
  get running(): readonly string[] {
    const since = performance.now() - presentMs;
    return [...this.#running].filter(([, { at }]) => at >= since).map(([service]) => service);
  }

  /**
   * Asks any service for its health, announced or not; undefined of an announced one that runs and lacks
   * `meganest.<service>.health`, as one in another language may. Errors: service_unavailable.
   */
  async health(service: string, signal: AbortSignal): Promise<ServiceHealth | undefined> {
    const isMute = this.running.includes(service) && this.#running.get(service)?.answersHealth === false;
    return isMute ? undefined : this.client.request(healthMethod(service), {}, { signal });
  }

  /** Calls the service of a node. Errors: internal_error where it never announced itself. */
  call(context: NodeContext, options: CallOptions): ReturnType<NodeRunner> {
    const { service } = context;
    const [method, kind] = [this.#methods.get(service), this.#kinds.get(service)];
    if (method && kind)
      return callAnnouncedNode(this.client, { method, output: kind.output }, context, options);
    throw new MegaNestError('internal_error', { service: 'gateway', detail: `no caller for ${service}` });
  }

  /** Asks who is there; true where something new came. A NATS server that is away counts as nothing new. */
  async look(): Promise<boolean> {
    const instances = await this.directory.list().catch(() => []);
    const announced = instances.filter(
      ({ service, metadata }) => metadata[nodeMetadataKey] !== undefined && !builtInNodes.has(service),
    );
    for (const { service, subjects } of announced) {
      const answersHealth = subjects.includes(healthMethod(service).subject);
      this.#running.set(service, { at: performance.now(), answersHealth });
    }
    return announced
      .map(({ service, metadata }) => this.#learn(service, metadata[nodeMetadataKey] ?? ''))
      .includes(true);
  }

  /** Keeps looking, and tells when something new came. */
  follow(onNew: () => void): void {
    this.#timer = setInterval(() => {
      void this.look().then((isNew) => isNew && onNew());
    }, lookEveryMs).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.#timer);
  }

  #learn(service: string, announced: string): boolean {
    if (this.#seen.get(service) === announced) return false;
    this.#seen.set(service, announced);
    try {
      const announcement = nodeAnnouncementSchema.parse(JSON.parse(announced));
      this.#kinds.set(service, kindOf(service, announcement));
      this.#methods.set(service, methodOf(service, announcement));
      this.#logger.log(`mega services can use ${service} now`);
      return true;
    } catch (error) {
      this.#logger.warn(`the announcement of ${service} cannot be used: ${String(error)}`);
      return false;
    }
  }
}

function kindOf(service: string, announcement: NodeAnnouncement): ServiceKind {
  const { inputs, output, passThrough, streaming } = announcement;
  const parameters = z.fromJSONSchema(announcement.parameters);
  if (!(parameters instanceof z.ZodObject)) throw new Error('its parameters are no object');
  const kind = { service, inputs, output, passThrough, streaming, parameters };
  createServiceRegistry([kind]);
  return kind;
}

function methodOf(service: string, { method, streaming }: NodeAnnouncement): NodeMethod {
  return defineMethod({ service, method, request: nodeRequestSchema, reply: nodeReplySchema, streaming });
}
