import type { BuiltInService } from '#contracts';

/** A service as the launcher sees it. */
export interface ServiceDescription {
  /** Folder below apps/. */
  name: BuiltInService | 'gateway';
  portVariable: `${string}_PORT`;
  /** OPEA's own port. */
  defaultPort: number;
  /** Answers 200 once the service can work. */
  readyPath: string;
  /** Its name in its health report, OPEA's, where that is not the folder's. */
  reportsAs?: string;
  /** Started once Postgres serves; the others need NATS only. */
  needsDatabase: boolean;
}

/** Every service of MegaNest, in the order in which they are listed; the gateway is stopped first. */
export const services = [
  {
    name: 'embedding',
    portVariable: 'EMBEDDING_PORT',
    defaultPort: 6000,
    readyPath: '/ready',
    needsDatabase: false,
  },
  {
    name: 'retrieval',
    reportsAs: 'retriever',
    portVariable: 'RETRIEVAL_PORT',
    defaultPort: 7000,
    readyPath: '/ready',
    needsDatabase: true,
  },
  {
    name: 'reranking',
    portVariable: 'RERANKING_PORT',
    defaultPort: 8000,
    readyPath: '/ready',
    needsDatabase: false,
  },
  { name: 'llm', portVariable: 'LLM_PORT', defaultPort: 9000, readyPath: '/ready', needsDatabase: false },
  {
    name: 'dataprep',
    portVariable: 'DATAPREP_PORT',
    defaultPort: 6007,
    readyPath: '/ready',
    needsDatabase: true,
  },
  {
    name: 'guardrail',
    portVariable: 'GUARDRAIL_PORT',
    defaultPort: 9090,
    readyPath: '/ready',
    needsDatabase: false,
  },
  { name: 'asr', portVariable: 'ASR_PORT', defaultPort: 9099, readyPath: '/ready', needsDatabase: false },
  { name: 'tts', portVariable: 'TTS_PORT', defaultPort: 9088, readyPath: '/ready', needsDatabase: false },
  {
    name: 'gateway',
    portVariable: 'GATEWAY_PORT',
    defaultPort: 8888,
    readyPath: '/v1/health_check',
    needsDatabase: true,
  },
] as const satisfies readonly ServiceDescription[];

export type ServiceName = (typeof services)[number]['name'];
export type PortVariable = (typeof services)[number]['portVariable'];
