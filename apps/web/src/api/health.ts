import { useQuery } from '@tanstack/react-query';
import { apiUrl, authorization } from './connection';

/** The health report of the gateway. */
interface Health {
  status: 'healthy' | 'unhealthy';
  'Service Version': string;
  uptime_seconds: number;
  dependencies: { name: string; healthy: boolean; latencyMs: number; detail?: string }[];
  /** Problems that an operator must mend, although every dependency works. */
  warnings?: string[];
  downloads?: Download[];
}

/** A model download from the health report. */
export interface Download {
  model: string;
  loadedBytes: number;
  totalBytes?: number;
}

/** The health report, read again after each interval in milliseconds. */
export function useHealth(refetchInterval: number) {
  return useQuery({ queryKey: ['health'], queryFn: readHealth, refetchInterval });
}

/** Reads the health report. An answer with status 503 also contains it. */
async function readHealth(): Promise<Health> {
  const response = await fetch(`${apiUrl}/health_check`, { headers: authorization() });
  return (await response.json()) as Health;
}
