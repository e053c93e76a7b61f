import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { call } from '../api/connection';
import { useModels } from '../api/queries';
import { PageBar } from '../shared/components';
import { dateText, numberText, sizeText, useText } from '../i18n/text';
import { DoctorTable, HealthTable } from './health';
import { LoadCharts } from './load';
import { Rows, Section, followMs } from './section';

interface Latencies {
  p50_latency: number | null;
  p99_latency: number | null;
  p50_latency_first_token?: number | null;
  count: number;
}

interface Instance {
  service: string;
  instance_id: string;
  version: string;
  started: string;
  requests: number;
  errors: number;
  load?: Record<string, Record<string, number>>;
}

/** The system page: health, instances, latencies and models. */
export default function SystemPage(): ReactElement {
  const t = useText();
  return (
    <>
      <PageBar title={t('system')}>
        <Anchor href="./docs" target="_blank" size="sm">
          {t('apiReference')}
        </Anchor>
      </PageBar>
      <div className="body scroll" tabIndex={0}>
        <div className="wide">
          <HealthTable />
          <LoadCharts />
          <LatencyTable />
          <EngineTable />
          <ModelTable />
          <InstanceTable />
          <DoctorTable />
        </div>
      </div>
    </>
  );
}

function useInstances() {
  return useQuery({
    queryKey: ['instances'],
    queryFn: async () => (await call<{ instances: Instance[] }>('/instances')).instances,
    refetchInterval: followMs,
  });
}

/** The load of the language model engines. Remote engines do not report it. */
function EngineTable(): ReactElement {
  const t = useText();
  const query = useInstances();
  const { data } = query;
  const engines = (data ?? []).flatMap(({ instance_id, load }) => {
    const { meganest_engine_requests: requests, meganest_engine_cache_bytes: cache } = load ?? {};
    return requests && cache ? [{ instance_id, requests, cache }] : [];
  });
  return (
    <Section title={t('engine')} query={query}>
      <Rows
        heads={[t('instance'), t('running'), t('waiting'), t('cacheSequences'), t('cachePrefixes')]}
        empty={t('noEngine')}
        rows={engines.map(({ instance_id: id, requests, cache }) => [
          id.slice(-8),
          numberText(requests['running'] ?? 0),
          numberText(requests['waiting'] ?? 0),
          sizeText(cache['sequences'] ?? 0),
          sizeText(cache['prefixes'] ?? 0),
        ])}
      />
    </Section>
  );
}

function InstanceTable(): ReactElement {
  const t = useText();
  const query = useInstances();
  const { data } = query;
  return (
    <Section title={t('instances')} query={query}>
      <Rows
        heads={[t('service'), t('version'), t('started'), t('requests'), t('errors')]}
        rows={(data ?? []).map((one) => [
          one.service,
          one.version,
          dateText(one.started),
          numberText(one.requests),
          numberText(one.errors),
        ])}
      />
    </Section>
  );
}

const milliseconds = (seconds: number | null | undefined): string =>
  typeof seconds === 'number' ? `${numberText(seconds * 1000)} ms` : '–';

function LatencyTable(): ReactElement {
  const t = useText();
  const query = useQuery({
    queryKey: ['statistics'],
    queryFn: () => call<Record<string, Latencies>>('/statistics'),
    refetchInterval: followMs,
  });
  const { data } = query;
  return (
    <Section title={t('latencies')} query={query}>
      <Rows
        heads={[t('operation'), 'p50', 'p99', t('firstToken'), t('requests')]}
        empty={t('noRequests')}
        rows={Object.entries(data ?? {}).map(([name, one]) => [
          name.slice(name.indexOf('/') + 1),
          milliseconds(one.p50_latency),
          milliseconds(one.p99_latency),
          milliseconds(one.p50_latency_first_token),
          numberText(one.count),
        ])}
      />
    </Section>
  );
}

function ModelTable(): ReactElement {
  const t = useText();
  const query = useModels();
  const { data } = query;
  const models = (data ?? []).filter(({ service }) => service !== undefined);
  return (
    <Section title={t('models')} query={query}>
      <Rows
        heads={[t('name'), t('service'), t('backend'), t('contextLength'), t('revision')]}
        rows={models.map((model) => [
          model.id,
          model.service,
          model.backend ?? '',
          model.max_model_len === undefined ? '' : numberText(model.max_model_len),
          model.revision ?? '',
        ])}
      />
    </Section>
  );
}
