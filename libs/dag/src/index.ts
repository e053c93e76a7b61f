export {
  createServiceRegistry,
  type InputPort,
  type ServiceKind,
  type ServiceRegistry,
} from './definition/service-kind.js';
export type { MegaServiceDefinition, NodeDefinition, NodeTarget } from './definition/types.js';
export { lacksService, MegaServiceDefinitionError, type DefinitionProblem } from './definition/problems.js';
export { parseMegaService } from './definition/parse.js';
export { listParameters, type ListedParameter, type ParameterType } from './parameters/list.js';
export { pickParameters, type ParameterValues } from './parameters/resolve.js';
export { runDag } from './engine/dag-run.js';
export type {
  NodeContext,
  NodeRunner,
  RunHandle,
  RunOptions,
  RunReceipt,
  ShortCircuit,
} from './engine/types.js';
export { watchMegaServices, type MegaServiceWatcher } from './reload/watch.js';
