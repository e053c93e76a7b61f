import { z } from 'zod';
import { defineMethod } from './method.js';

export const dependencyHealthSchema = z.object({
  name: z.string(),
  healthy: z.boolean(),
  detail: z.string().optional(),
  latencyMs: z.number().optional(),
});
export type DependencyHealth = z.infer<typeof dependencyHealthSchema>;

export const serviceHealthSchema = z.object({
  service: z.string(),
  description: z.string(),
  healthy: z.boolean(),
  version: z.string(),
  uptimeSeconds: z.number(),
  dependencies: z.array(dependencyHealthSchema),
});
export type ServiceHealth = z.infer<typeof serviceHealthSchema>;

/** `meganest.<service>.health`: every service answers it; really asks its model or database. */
export function healthMethod(service: string) {
  return defineMethod({ service, method: 'health', request: z.object({}), reply: serviceHealthSchema });
}
