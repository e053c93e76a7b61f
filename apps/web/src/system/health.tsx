import { Badge, Button, Text, Group, Progress } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { apiUrl, authorization, call } from '../api/connection';
import { useText, numberText, type Key } from '../i18n/text';
import { followMs, Rows, Section } from './section';

interface Health {
  status: 'healthy' | 'unhealthy';
  'Service Version': string;
  uptime_seconds: number;
  dependencies: { name: string; healthy: boolean; latencyMs: number; detail?: string }[];
  downloads?: Download[];
}

/** A model download from the health report. */
interface Download {
  model: string;
  loadedBytes: number;
  totalBytes?: number;
}

/** Reads the health report. An answer with status 503 also contains it. */
async function readHealth(): Promise<Health> {
  const response = await fetch(`${apiUrl}/health_check`, { headers: authorization() });
  return (await response.json()) as Health;
}

/** A table of the gateway's dependencies, and the downloads of their models. */
export function HealthTable(): ReactElement {
  const t = useText();
  const query = useQuery({
    queryKey: ['health'],
    queryFn: readHealth,
    refetchInterval: followMs,
  });
  const { data } = query;
  return (
    <Section
      title={t('health')}
      query={query}
      aside={
        data && (
          <Group gap="xs">
            <Badge variant="dot" color={data.status === 'healthy' ? 'green' : 'red'}>
              {data.status === 'healthy' ? t('healthy') : t('unhealthy')}
            </Badge>
            <Text size="sm" c="dimmed">
              {t('versionUp', {
                version: data['Service Version'],
                minutes: Math.floor(data.uptime_seconds / 60),
              })}
            </Text>
          </Group>
        )
      }
    >
      <Rows
        heads={[t('dependency'), t('state'), t('latency'), t('detail')]}
        rows={(data?.dependencies ?? []).map(({ name, healthy, latencyMs, detail = '' }) => [
          name,
          <Badge key="state" variant="dot" color={healthy ? 'green' : 'red'}>
            {healthy ? t('healthy') : t('unhealthy')}
          </Badge>,
          `${numberText(latencyMs, 1)} ms`,
          healthy ? '' : detail,
        ])}
      />
      <Downloads downloads={data?.downloads ?? []} />
    </Section>
  );
}

const megabyte = 1_000_000;

/** Progress of the model downloads. */
function Downloads({ downloads }: { downloads: Download[] }): ReactElement {
  const t = useText();
  return (
    <>
      {downloads.map(({ model, loadedBytes, totalBytes }) => {
        const label = t('downloading', { model });
        const size = [loadedBytes, ...(totalBytes === undefined ? [] : [totalBytes])];
        return (
          <Group key={model} gap="sm" mt="xs">
            <Text size="sm">{label}</Text>
            <Progress flex={1} value={totalBytes ? (loadedBytes / totalBytes) * 100 : 0} aria-label={label} />
            <Text size="sm" c="dimmed">
              {size.map((bytes) => numberText(Math.round(bytes / megabyte))).join(' / ')} MB
            </Text>
          </Group>
        );
      })}
    </>
  );
}

interface Finding {
  check: string;
  level: 'ok' | 'warn' | 'fail';
  message: string;
  fix?: string;
}

const colors = { ok: 'green', warn: 'yellow', fail: 'red' } as const;
const order = ['fail', 'warn', 'ok'];

/** The findings of the doctor: problems of the installation, with advice. */
export function DoctorTable(): ReactElement {
  const t = useText();
  const query = useQuery({
    queryKey: ['doctor'],
    queryFn: () => call<{ findings: Finding[] }>('/doctor'),
    staleTime: 60_000,
  });
  const findings = (query.data?.findings ?? []).toSorted(
    (a, b) => order.indexOf(a.level) - order.indexOf(b.level),
  );
  return (
    <Section
      title={t('doctor')}
      query={query}
      aside={
        <Button
          size="compact-xs"
          variant="default"
          loading={query.isFetching}
          onClick={() => void query.refetch()}
        >
          {t('lookAgain')}
        </Button>
      }
    >
      <Rows
        heads={[t('state'), t('lookedAt'), t('finding')]}
        rows={findings.map(({ check, level, message, fix }) => [
          <Badge key="level" variant="dot" color={colors[level]}>
            {t(`level-${level}` as Key)}
          </Badge>,
          check,
          <div key="finding" className="finding">
            {message}
            {fix && (
              <Text size="sm" fw={600}>
                → {fix}
              </Text>
            )}
          </div>,
        ])}
      />
    </Section>
  );
}
