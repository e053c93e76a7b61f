import {
  defineMethod,
  generationChunkSchema,
  healthMethod,
  MegaNestError,
  nodeAnnouncementSchema,
  nodeMetadataKey,
  nodeReplySchema,
  nodeRequestSchema,
  retrievedDocumentSchema,
  type GenerationChunk,
  type NodeAnnouncement,
  type RpcMethod,
  type ServiceHealth,
} from '#platform/contracts';
import {
  createServiceRegistry,
  type NodeContext,
  type NodeRunner,
  type ServiceKind,
  type ServiceRegistry,
} from '#platform/dag';
import { RpcClient, ServiceDirectory, type CallOptions } from '#platform/messaging';
import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { z } from 'zod';
import { builtInNodes } from './built-in-nodes.js';

/** Fields of a mega service's request that an announced service gets. */
type Asked = Pick<z.output<typeof nodeRequestSchema>, 'query' | 'messages'>;

interface Announced {
  method: NodeMethod;
  /** Kind of the output, e.g. `answer`. */
  output: string;
}

/** Calls a service that announced itself. Returns one output, or a stream of outputs if the service streams. */
function callAnnouncedNode(
  client: RpcClient,
  { method, output }: Announced,
  context: NodeContext,
  options: CallOptions,
): Promise<unknown> | AsyncIterable<unknown> {
  const { query, messages } = (context.inputs['conversation'] ?? context.request) as Asked;
  const { inputs, parameters, report } = context;
  const outputs = outputsOf(client.stream(method, { query, messages, inputs, parameters }, options), report);
  const shaped =
    output === 'answer' ? toChunks(outputs, method.service) : checked(outputs, output, method.service);
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

/** The kinds that nodes of this project read. Services may define others, which only they read. */
const outputSchemas = new Map<string, { schema: z.ZodType; form: string }>([
  [
    'documents',
    { schema: z.array(retrievedDocumentSchema), form: 'a list of objects with id, text and score' },
  ],
  ['embedding', { schema: z.string(), form: 'a text: Float32, little-endian, in base64' }],
  ['text', { schema: z.string(), form: 'a text' }],
]);

/** Blames a wrong output on the service that sent it, and not on the service that reads it. */
async function* checked(outputs: AsyncIterable<unknown>, kind: string, service: string): AsyncGenerator {
  const known = outputSchemas.get(kind);
  for await (const output of outputs) {
    if (!known) {
      yield output;
      continue;
    }
    const parsed = known.schema.safeParse(output);
    if (!parsed.success) {
      const detail = `an output of the kind "${kind}" must be ${known.form}`;
      throw new MegaNestError('bad_upstream', { service, detail });
    }
    yield parsed.data;
  }
}

/** An output of the kind `answer`: a text, or a chunk with a text. */
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
  // OpenAI's clients require a finish reason at the end of an answer.
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

/** Interval of the queries to NATS's service discovery. */
const lookEveryMs = 2_000;
/** A service counts as running for this time after its last reply, because a busy service may miss a query. */
const presentMs = 3 * lookEveryMs;

type NodeMethod = RpcMethod<typeof nodeRequestSchema, typeof nodeReplySchema>;

interface Sighting {
  /** Time of the last reply, by the clock of `performance`. */
  at: number;
  answersHealth: boolean;
}

/**
 * The built-in services, and the services that announced themselves through NATS's discovery metadata. A service that
 * stops stays registered: its nodes answer 503 with its name. An announcement cannot replace a built-in service.
 */
@Injectable()
export class AnnouncedServices implements OnApplicationShutdown {
  readonly #kinds = new Map<string, ServiceKind>(builtInNodes);
  readonly #methods = new Map<string, NodeMethod>();
  /** The last announcement of each service as text, to process each change once. */
  readonly #seen = new Map<string, string>();
  readonly #running = new Map<string, Sighting>();
  readonly #logger = new Logger('services');
  #timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(ServiceDirectory) private readonly directory: ServiceDirectory,
    @Inject(RpcClient) private readonly client: RpcClient,
  ) {}

  /** All services that a YAML file may name. New announcements add to it. */
  get registry(): ServiceRegistry {
    return this.#kinds;
  }

  /** Names of the running announced services. */
  get running(): readonly string[] {
    const since = performance.now() - presentMs;
    return [...this.#running].filter(([, { at }]) => at >= since).map(([service]) => service);
  }

  /**
   * Queries the health of a built-in or announced service. Undefined for a running announced service without
   * `meganest.<service>.health`, e.g. one in another language. Errors: service_unavailable.
   */
  async health(service: string, signal: AbortSignal): Promise<ServiceHealth | undefined> {
    const isMute = this.running.includes(service) && this.#running.get(service)?.answersHealth === false;
    return isMute ? undefined : this.client.request(healthMethod(service), {}, { signal });
  }

  /** Calls the service of a node. Errors: internal_error if the service never announced itself. */
  call(context: NodeContext, options: CallOptions): ReturnType<NodeRunner> {
    const { service } = context;
    const [method, kind] = [this.#methods.get(service), this.#kinds.get(service)];
    if (method && kind)
      return callAnnouncedNode(this.client, { method, output: kind.output }, context, options);
    throw new MegaNestError('internal_error', {
      service: 'gateway',
      detail: `the service ${service} has not announced itself`,
    });
  }

  /**
   * Queries the service discovery. Returns true if an announcement is new or changed; false while NATS is unavailable.
   */
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

  /** Queries the service discovery periodically, and calls `onNew` for new or changed announcements. */
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
  if (!(parameters instanceof z.ZodObject))
    throw new Error('the JSON Schema of its parameters is not an object');
  const kind = { service, inputs, output, passThrough, streaming, parameters };
  createServiceRegistry([kind]);
  return kind;
}

function methodOf(service: string, { method, streaming }: NodeAnnouncement): NodeMethod {
  return defineMethod({ service, method, request: nodeRequestSchema, reply: nodeReplySchema, streaming });
}
