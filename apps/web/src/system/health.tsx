import { Alert, Badge, Button, Text, Group, List, Progress } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { call } from '../api/connection';
import { useHealth, type Download } from '../api/health';
import { useText, numberText, type Key } from '../i18n/text';
import { IconAlertTriangle } from '../shared/icons';
import { followMs, Rows, Section } from './section';

/** The warnings of the services, a table of the gateway's dependencies, and the downloads of their models. */
export function HealthTable(): ReactElement {
  const t = useText();
  const query = useHealth(followMs);
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
      <Warnings warnings={data?.warnings ?? []} />
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

/** The warnings as the services write them, in English. */
function Warnings({ warnings }: { warnings: readonly string[] }): ReactElement | null {
  const t = useText();
  if (warnings.length === 0) return null;
  return (
    <Alert role="status" variant="default" mb="xs" title={t('warnings')} icon={<IconAlertTriangle />}>
      <List size="sm" className="warnings">
        {warnings.map((warning) => (
          <List.Item key={warning} lang="en">
            {warning}
          </List.Item>
        ))}
      </List>
    </Alert>
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
