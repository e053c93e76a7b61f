import { NativeSelect, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useState, type ReactElement } from 'react';
import type { Timeline } from '#platform/contracts';
import { call } from '../api/connection';
import { useText } from '../i18n/text';
import type { Line } from './charts';
import { Section, followMs } from './section';
import { loadOf, latenciesOf, operationsOf } from './timeline';

const Chart = lazy(() => import('./charts'));

/** Charts of the requests and latencies in the last ten minutes. */
export function LoadCharts(): ReactElement {
  const t = useText();
  const [picked, setPicked] = useState<string>();
  const query = useQuery({
    queryKey: ['timeline'],
    queryFn: () => call<Timeline>('/statistics/timeline'),
    refetchInterval: followMs,
  });
  const { operations, operation, load, latencies } = useMemo(
    () => shownOf(query.data, picked),
    [query.data, picked],
  );
  const { loadLines, latencyLines } = useLines();
  return (
    <Section title={t('loadTitle')} query={query}>
      {operation === undefined && (
        <Text size="sm" c="dimmed">
          {t('noRequests')}
        </Text>
      )}
      {load && latencies && (
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <div>
            <Text size="sm" fw={600} mih={36}>
              {t('loadPerMinute')}
            </Text>
            <Suspense fallback={<div className="chart" />}>
              <Chart title={t('loadPerMinute')} unit="" data={load} lines={loadLines} />
            </Suspense>
          </div>
          <div>
            <NativeSelect
              size="xs"
              mih={36}
              aria-label={t('latencyOf')}
              value={operation}
              data={operations.map((value) => ({ value, label: value.slice(value.indexOf('/') + 1) }))}
              onChange={(event) => setPicked(event.currentTarget.value)}
            />
            <Suspense fallback={<div className="chart" />}>
              <Chart title={t('latencyOf')} unit="ms" data={latencies} lines={latencyLines} />
            </Suspense>
          </div>
        </SimpleGrid>
      )}
    </Section>
  );
}

function shownOf(timeline: Timeline | undefined, picked: string | undefined) {
  const operations = operationsOf(timeline);
  const operation = picked && operations.includes(picked) ? picked : operations[0];
  if (!timeline || operation === undefined) return { operations };
  return { operations, operation, load: loadOf(timeline), latencies: latenciesOf(timeline, operation) };
}

/** The lines of the charts. The objects only change with the language, because new lines create a new chart. */
function useLines(): Record<'loadLines' | 'latencyLines', Line[]> {
  const t = useText();
  const requests = t('requests');
  const errors = t('errors');
  const firstToken = t('firstToken');
  return useMemo(
    () => ({
      loadLines: [
        { label: requests, color: 'blue' },
        { label: errors, color: 'orange' },
      ],
      latencyLines: [
        { label: 'p50', color: 'blue' },
        { label: 'p99', color: 'orange' },
        { label: firstToken, color: 'green' },
      ],
    }),
    [requests, errors, firstToken],
  );
}
