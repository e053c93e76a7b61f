import * as contracts from '#contracts';

/** Every method of the contracts: the messages that the gateway knows by type. */
export const rpcMethods: readonly contracts.RpcMethod[] = Object.values<unknown>(contracts).filter(isMethod);

function isMethod(value: unknown): value is contracts.RpcMethod {
  return typeof value === 'object' && value !== null && 'subject' in value && 'request' in value;
}
