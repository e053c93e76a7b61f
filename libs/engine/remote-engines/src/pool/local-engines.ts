import { setTimeout as wait } from 'node:timers/promises';
import type { EngineModel } from '../choose-model.js';
import type { EngineKind } from '../engine-kind.js';
import { findModels } from './find-models.js';

/** An engine on this machine. */
export interface LocalEngine {
  readonly url: string;
  readonly kind: EngineKind;
  /** Its models that chat, in its order. */
  readonly models: readonly EngineModel[];
}

/** The usual ports of Ollama, LM Studio, llama-server, vLLM and OpenVINO Model Server, SGLang. */
const usualPorts = [11_434, 1_234, 8_080, 8_000, 30_000];

/**
 * Asks the usual ports of the loopback interface for engines with a model that chats; the others are left out. Takes
 * `limitMs` at most. Nothing leaves the machine.
 */
export async function findLocalEngines({
  ports = usualPorts,
  limitMs = 1_000,
}: { ports?: readonly number[]; limitMs?: number } = {}): Promise<LocalEngine[]> {
  const asked = ports.map(async (port): Promise<LocalEngine[]> => {
    const url = `http://127.0.0.1:${port}`;
    try {
      const { kind, models } = await findModels({ url }, undefined, limitMs);
      const chatting = models.filter(({ uses }) => uses.includes('chat'));
      return chatting.length > 0 ? [{ url, kind, models: chatting }] : [];
    } catch {
      return [];
    }
  });
  const late = wait(limitMs, [] as LocalEngine[], { ref: false });
  return (await Promise.all(asked.map((one) => Promise.race([one, late])))).flat();
}
