export {
  createServiceRegistry,
  type InputPort,
  type ServiceKind,
  type ServiceRegistry,
  type MegaServiceDefinition,
  type NodeDefinition,
  type NodeTarget,
} from './definition/types.js';
export { lacksService, MegaServiceDefinitionError, type DefinitionProblem } from './definition/source.js';
export { parseMegaService } from './definition/parse.js';
export {
  listParameters,
  type ListedParameter,
  type ParameterType,
  pickParameters,
  type ParameterValues,
} from './definition/parameters.js';
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
