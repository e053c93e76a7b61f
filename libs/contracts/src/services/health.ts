import { z } from 'zod';
import { defineMethod } from './method.js';

export const dependencyHealthSchema = z.object({
  name: z.string(),
  healthy: z.boolean(),
  /** False where the service works without it, if less well. */
  required: z.boolean().optional(),
  detail: z.string().optional(),
  latencyMs: z.number().optional(),
});
export type DependencyHealth = z.infer<typeof dependencyHealthSchema>;

/** How far the files of a model are here. */
export const modelDownloadSchema = z.object({
  model: z.string(),
  loadedBytes: z.number(),
  /** Absent until the size of the weights is known. */
  totalBytes: z.number().optional(),
});
export type ModelDownload = z.infer<typeof modelDownloadSchema>;

export const serviceHealthSchema = z.object({
  service: z.string(),
  description: z.string(),
  /** Every dependency works. */
  healthy: z.boolean(),
  /** Every dependency works that the service cannot do without, and the process is not about to stop. */
  ready: z.boolean().optional(),
  version: z.string(),
  uptimeSeconds: z.number(),
  dependencies: z.array(dependencyHealthSchema),
});
export type ServiceHealth = z.infer<typeof serviceHealthSchema>;

/** `meganest.<service>.health`: every service answers it; really asks its model or database. */
export function healthMethod(service: string) {
  return defineMethod({ service, method: 'health', request: z.object({}), reply: serviceHealthSchema });
}
