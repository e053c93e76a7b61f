export {
  createServiceRegistry,
  type InputPort,
  type ServiceKind,
  type ServiceRegistry,
} from './definition/service-kind.js';
export type { MegaServiceDefinition, NodeDefinition, NodeTarget, RetryPolicy } from './definition/types.js';
export { lacksService, MegaServiceDefinitionError, type DefinitionProblem } from './definition/problems.js';
export type { Condition, ConditionContext } from './definition/condition.js';
export type { ServiceLookup } from './definition/target.js';
export { parseMegaService } from './definition/parse.js';
export { listParameters, type ListedParameter, type ParameterType } from './parameters/list.js';
export { pickParameters, type ParameterValues } from './parameters/resolve.js';
export { runDag } from './engine/run-dag.js';
export type { NodeContext, NodeRunner, RunEvent, RunHandle, RunOptions, Verdict } from './engine/types.js';
export type { NodeReceipt, NodeState, RunReceipt } from './engine/receipt.js';
export { splitSentences, type TextChunk } from './engine/sentences.js';
export type { MegaServiceCatalog } from './reload/catalog.js';
export { loadMegaServices } from './reload/load.js';
export { watchMegaServices, type MegaServiceWatcher, type WatchOptions } from './reload/watch.js';
