import { MegaNestError, type ModelInfo } from '#platform/contracts';
import {
  describePrefixes,
  maxScores,
  splitInHalf,
  splitTexts,
  type Classifier,
  type Embedder,
  type Embeddings,
  type EmbedOptions,
  type Reranker,
  type TextPiece,
  withPrefix,
} from '#engine/encoders';
import { z } from 'zod';
import { type RemoteOptions, RemoteServer } from './remote-server.js';

const infoSchema = z.looseObject({
  model_id: z.string(),
  model_sha: z.string().nullish(),
  max_input_length: z.int().optional(),
  max_client_batch_size: z.int().min(1).optional(),
  /** `{embedding: …}`, `{reranker: …}` or `{classifier: …}`. */
  model_type: z
    .looseObject({ classifier: z.looseObject({ id2label: z.record(z.string(), z.string()) }).optional() })
    .optional()
    .catch(undefined),
});

/** TEI's default maximum of inputs per request. */
const defaultBatchSize = 32;

/** A connection to a Text Embeddings Inference server. */
class TeiServer {
  private constructor(
    readonly info: ModelInfo,
    /** Labels of a classifier, in the model's order. */
    readonly labels: readonly string[] | undefined,
    private readonly server: RemoteServer,
    /** Maximum number of inputs per request. */
    readonly batchSize: number,
  ) {}

  /** Connects to the server and reads the description of its model. Errors: service_unavailable, bad_upstream. */
  static async open(service: string, options: RemoteOptions): Promise<TeiServer> {
    const server = new RemoteServer(service, options);
    const info = await server.json({ path: '/info' }, infoSchema);
    const model: ModelInfo = {
      id: info.model_id,
      revision: (info.model_sha ?? 'unknown').slice(0, 12),
      backend: 'tei',
      maxInputTokens: info.max_input_length ?? 512,
      created: Math.floor(Date.now() / 1000),
    };
    const named = Object.entries(info.model_type?.classifier?.id2label ?? {});
    const labels = named.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, label]) => label);
    return new TeiServer(
      model,
      labels.length > 0 ? labels : undefined,
      server,
      info.max_client_batch_size ?? defaultBatchSize,
    );
  }

  /** Sends the items in consecutive requests within the server's limit; returns the results in order. */
  async inBatches<Item, Schema extends z.ZodType<readonly unknown[]>>(
    path: string,
    items: readonly Item[],
    request: (batch: readonly Item[]) => unknown,
    answer: { readonly schema: Schema; readonly signal?: AbortSignal },
  ): Promise<{ answers: z.output<Schema>[]; promptTokens: number }> {
    const answers: z.output<Schema>[] = [];
    let promptTokens = 0;
    for (let start = 0; start < items.length; start += this.batchSize) {
      const batch = items.slice(start, start + this.batchSize);
      const { schema, signal } = answer;
      const response = await this.server.send({ path, body: request(batch), signal });
      promptTokens += Number(response.headers.get('x-compute-tokens')) || 0;
      const rows = await this.server.parse(response, schema, signal);
      if (rows.length !== batch.length)
        throw this.server.unexpected(`its engine sent ${rows.length} results for ${batch.length} inputs`);
      answers.push(rows);
    }
    return { answers, promptTokens };
  }
}

const embeddingsSchema = z.array(z.array(z.number()));

/**
 * Embeds on a Text Embeddings Inference server. `prefixes`: in front of a query and of a document. Errors:
 * service_unavailable, bad_upstream for any other server.
 */
export async function openRemoteEmbedder({
  prefixes: { query = '', document = '' } = {},
  ...options
}: RemoteOptions & { prefixes?: { query?: string; document?: string } }): Promise<Embedder> {
  const server = await TeiServer.open('embedding', options);
  const { vectors } = await embed(server, ['dimensions']);
  const dimensions = vectors[0]?.length ?? 0;
  return {
    info: { ...server.info, dimensions, ...describePrefixes({ query, document }) },
    embed: (inputs, given) => {
      const prefix = given?.inputType ? { query, document }[given.inputType] : '';
      return embed(server, withPrefix(inputs, prefix), given);
    },
    close: () => Promise.resolve(),
  };
}

async function embed(
  server: TeiServer,
  inputs: readonly string[] | readonly (readonly number[])[],
  { truncate = false, signal }: EmbedOptions = {},
): Promise<Embeddings> {
  const items: readonly (string | readonly number[])[] = inputs;
  const body = (batch: readonly (string | readonly number[])[]) => ({
    inputs: batch,
    truncate,
    normalize: true,
  });
  const { answers, promptTokens } = await server.inBatches('/embed', items, body, {
    schema: embeddingsSchema,
    signal,
  });
  return { vectors: answers.flat().map((vector) => Float32Array.from(vector)), promptTokens };
}

const rerankSchema = z.array(z.object({ index: z.int().min(0), score: z.number() }));

/** Reranks on a Text Embeddings Inference server. Errors: service_unavailable, bad_upstream for any other server. */
export async function openRemoteReranker(options: RemoteOptions): Promise<Reranker> {
  const server = await TeiServer.open('reranking', options);
  return {
    info: server.info,
    async rerank(query, texts, { truncate = true, signal } = {}) {
      const body = (batch: readonly string[]) => ({ query, texts: batch, truncate, raw_scores: false });
      const { answers, promptTokens } = await server.inBatches('/rerank', texts, body, {
        schema: rerankSchema,
        signal,
      });
      return { scores: answers.flatMap(inInputOrder), promptTokens };
    },
    close: () => Promise.resolve(),
  };
}

/** TEI sends the best first. */
function inInputOrder(ranks: z.output<typeof rerankSchema>): number[] {
  return ranks.toSorted((a, b) => a.index - b.index).map(({ score }) => score);
}

const classificationSchema = z.array(z.array(z.object({ label: z.string(), score: z.number() })));
type Prediction = z.output<typeof classificationSchema>[number];

/**
 * Characters per token for the size of a piece. English has about 4; with 3 a piece seldom has more tokens than the
 * limit. Other texts (Chinese, emoji, spaced letters) may have more tokens than characters: the engine refuses their
 * pieces, which are then halved with splitInHalf.
 */
const charactersPerToken = 3;

/**
 * Classifies on a Text Embeddings Inference server (`/predict`), whose scores are the softmax of several labels and the
 * sigmoid of one. Errors: service_unavailable, bad_upstream for any other server, for a model without labels, or if it
 * refuses a text in pieces of any size.
 */
export async function openRemoteClassifier(options: RemoteOptions): Promise<Classifier> {
  const server = await TeiServer.open('guardrail', options);
  const { info, labels } = server;
  if (!labels) throw unexpected(`${info.id} on its engine is not a classifier`);
  const characters = info.maxInputTokens * charactersPerToken;
  return {
    info,
    labels,
    async classify(texts, { signal } = {}) {
      const pieces = splitTexts(texts, { characters, overlap: Math.floor(characters / 8) });
      const { asked, predictions, promptTokens } = await predict(server, pieces, signal);
      const rows = predictions.map((row) => inOrder(labels, row));
      const scores = maxScores(asked, rows, texts.length);
      return {
        scores: scores.map((row) => labels.map((label, index) => ({ label, score: row[index] ?? 0 }))),
        promptTokens,
      };
    },
    close: () => Promise.resolve(),
  };
}

interface Predictions {
  /** The pieces that the engine accepted, in the order of their predictions. */
  asked: TextPiece[];
  predictions: Prediction[];
  promptTokens: number;
}

/**
 * Classifies all pieces. The pieces of a refused request are sent one by one, so that the result of a text does not
 * depend on other texts. A piece that is refused alone is halved.
 */
async function predict(
  server: TeiServer,
  pieces: readonly TextPiece[],
  signal?: AbortSignal,
): Promise<Predictions> {
  const done: Predictions = { asked: [], predictions: [], promptTokens: 0 };
  const ask = async (batch: readonly TextPiece[]): Promise<MegaNestError | undefined> => {
    try {
      const { answers, promptTokens } = await server.inBatches('/predict', batch, body, {
        schema: classificationSchema,
        signal,
      });
      done.asked.push(...batch);
      done.predictions.push(...answers.flat());
      done.promptTokens += promptTokens;
      return undefined;
    } catch (error) {
      if (error instanceof MegaNestError && error.code === 'invalid_request') return error;
      throw error;
    }
  };
  for (let left = pieces; left.length > 0;) {
    const halved: TextPiece[] = [];
    for (let start = 0; start < left.length; start += server.batchSize) {
      const batch = left.slice(start, start + server.batchSize);
      const refusal = await ask(batch);
      if (!refusal) continue;
      for (const piece of batch) {
        const refused = batch.length === 1 ? refusal : await ask([piece]);
        if (refused) halved.push(...halvesOf(piece, refused));
      }
    }
    left = halved;
  }
  return done;
}

/** Halves a refused piece. Errors: bad_upstream for a piece that is too short to be refused for its length. */
function halvesOf(piece: TextPiece, refusal: MegaNestError): readonly TextPiece[] {
  const cut = splitInHalf(piece);
  if (cut.length > 0) return cut;
  throw unexpected(
    `its engine refuses a text of only ${piece.text.length} characters: ${refusal.message}`,
    refusal,
  );
}

/**
 * Returns the body of a request. Each text is in a list of its own, because TEI reads a bare list of strings as a pair
 * of texts. Nothing is truncated, because harmful text could hide in the rest. Half of a surrogate pair at a border is
 * replaced, because engines refuse it in JSON; the neighboring piece has the whole character.
 */
function body(batch: readonly TextPiece[]) {
  const inputs = batch.map(({ text }) => [text.replaceAll(/\p{Surrogate}/gu, '\uFFFD')]);
  return { inputs, truncate: false, raw_scores: false };
}

/** TEI sends the best first. */
function inOrder(labels: readonly string[], row: Prediction): number[] {
  const scores = new Map(row.map(({ label, score }) => [label, score]));
  return labels.map((label) => {
    const score = scores.get(label);
    if (score === undefined) throw unexpected(`its engine sent no score of ${label}`);
    return score;
  });
}

function unexpected(detail: string, cause?: unknown): MegaNestError {
  return new MegaNestError('bad_upstream', { service: 'guardrail', detail, cause });
}
