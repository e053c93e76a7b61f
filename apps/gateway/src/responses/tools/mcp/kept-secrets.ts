import { MegaNestError } from '#contracts';
import { NotSealedHereError, type ResponseTool, type Sealer } from '#responses';
import { z } from 'zod';
import type { ToolSecrets } from '../server-tool.js';
import { hidesSecrets } from './mcp-secrets.js';

const secretsSchema = z.array(
  z.tuple([
    z.string(),
    z.object({
      url: z.string().optional(),
      authorization: z.string().optional(),
      headers: z.record(z.string(), z.string()),
    }),
  ]),
);

/**
 * The keys of a background response's MCP servers as they are kept with its job, for whoever takes it over; undefined
 * where there are none. `keysAreElsewhere`: the sealing keys come from the configuration. Where they lie in the database
 * beside what they seal, sealing would keep nothing from anybody, so that nothing is kept.
 */
export function keptSecrets(
  secrets: ReadonlyMap<string, ToolSecrets>,
  { sealer, owner, keysAreElsewhere }: { sealer: Sealer; owner: string; keysAreElsewhere: boolean },
): string | undefined {
  if (secrets.size === 0 || !keysAreElsewhere) return undefined;
  return sealer.seal({ kind: 'tool_secrets', owner }, JSON.stringify([...secrets]));
}

/**
 * The keys again, in the process that took the response over. Errors: internal_error that says what to do, where tools
 * need keys and none were kept, or none that can be opened.
 */
export function openSecrets(
  kept: string | undefined,
  tools: readonly ResponseTool[],
  { sealer, owner }: { sealer: Sealer; owner: string },
): Map<string, ToolSecrets> {
  if (kept === undefined) {
    if (!tools.some(hidesSecrets)) return new Map();
    throw lost(
      'its MCP servers need keys, which are kept only where RESPONSES_ENCRYPTION_KEYS is set; ask again',
    );
  }
  try {
    const opened = secretsSchema.parse(JSON.parse(sealer.open({ kind: 'tool_secrets', owner }, kept)));
    return new Map(
      opened.map(([label, { url, authorization, headers }]) => [label, { url, authorization, headers }]),
    );
  } catch (cause) {
    if (!(cause instanceof NotSealedHereError)) throw cause;
    throw lost('the keys of its MCP servers were sealed by a gateway with other keys; ask again', cause);
  }
}

function lost(detail: string, cause?: unknown): MegaNestError {
  return new MegaNestError('internal_error', { service: 'gateway', detail, cause });
}
