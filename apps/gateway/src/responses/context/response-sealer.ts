import { createHash, randomBytes } from 'node:crypto';
import { Sealer } from '#responses';
import { SecretsRepository } from '#storage';
import type { Provider } from '@nestjs/common';
import { gatewayEnvironment, type GatewayEnvironment } from '../../config/gateway.environment.js';

/** The key of one installation where none is configured. */
const secretName = 'responses-encryption-key';

/**
 * Seals what clients keep for the server. The keys are those configured (any text of some length, hashed to a key), or
 * one that is made once and shared through the database, so that every gateway can open what another one sealed.
 */
export const responseSealer: Provider = {
  provide: Sealer,
  inject: [gatewayEnvironment, SecretsRepository],
  useFactory: async (
    { RESPONSES_ENCRYPTION_KEYS: configured }: GatewayEnvironment,
    secrets: SecretsRepository,
  ): Promise<Sealer> => {
    if (configured.length > 0)
      return new Sealer(configured.map((text) => createHash('sha256').update(text).digest()));
    return new Sealer([await secrets.getOrCreate(secretName, randomBytes(32))]);
  },
};
