import { Alert, Button, Code, CopyButton, Loader, Select, Text, Textarea, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState, type ReactElement } from 'react';
import { call, messageOf } from '../api/connection';
import { useMegaServices, type MegaService } from '../api/queries';
import { useText } from '../i18n/text';
import { Failure, PageBar } from '../shared/components';
import { navigate } from '../shared/router';
import type { DetailedMegaService, Problem } from './pipeline';
import { Waterfall } from './waterfall';

const Graph = lazy(() => import('./graph'));

/** Intervals in milliseconds at which the page reads the runs: without and with an active run. */
const followMs = 1_000;
const followRunMs = 250;

/** The page of the mega services: the graph of each, the times of its recent runs, and its definition. */
export default function PipelinesPage({ name }: { name: string | undefined }): ReactElement {
  const t = useText();
  const list = useMegaServices();
  const names = (list.data ?? []).map((one) => one.name);
  const shown = name ?? (names.includes('chatqna') ? 'chatqna' : names[0]);
  return (
    <>
      <PageBar title={t('pipelines')}>
        <Select
          className="model"
          aria-label={t('megaService')}
          data={names}
          value={shown ?? null}
          allowDeselect={false}
          onChange={(next) => next && navigate({ page: 'pipelines', id: next })}
        />
      </PageBar>
      <div className="body scroll" tabIndex={0}>
        <div className="wide">
          {list.isError && <Failure error={list.error} retry={() => void list.refetch()} />}
          {shown && <Pipeline key={shown} name={shown} />}
        </div>
      </div>
    </>
  );
}

function Pipeline({ name }: { name: string }): ReactElement {
  const t = useText();
  const [picked, setPicked] = useState<string>();
  const { data, isError, error, refetch } = useQuery({
    queryKey: ['megaservice', name],
    queryFn: () => call<DetailedMegaService>(`/megaservices/${encodeURIComponent(name)}`),
    refetchInterval: ({ state }) =>
      state.data?.recent.some((run) => run.state === 'running') ? followRunMs : followMs,
    staleTime: 0,
  });
  if (isError) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loader aria-label={t('loading')} />;
  const run = data.recent.find(({ requestId }) => requestId === picked) ?? data.recent[0];
  return (
    <>
      <Text c="dimmed" mb="md">
        {data.description}
      </Text>
      <Suspense fallback={<div className="graph" />}>
        <Graph nodes={data.nodes} run={run} />
      </Suspense>
      <section aria-label={t('lastRuns')}>
        <Title order={2} size="h5" mt="lg" mb="xs">
          {t('lastRuns')}
        </Title>
        {run ? (
          <Waterfall runs={data.recent} run={run} pick={setPicked} />
        ) : (
          <Text c="dimmed">{t('noRuns')}</Text>
        )}
      </section>
      <Request service={data} />
      <Definition service={data} />
    </>
  );
}

/** An example request for a shell. */
function Request({ service }: { service: MegaService }): ReactElement | null {
  const t = useText();
  if (!service.path) return null;
  const url = new URL(service.path.slice(1), new URL('.', document.baseURI)).href;
  const body = JSON.stringify({ messages: 'What does MegaNest do?' });
  const command = `curl ${url} -H 'Content-Type: application/json' -d '${body}'`;
  return (
    <section aria-label={t('request')}>
      <Title order={2} size="h5" mt="lg" mb="xs">
        {t('request')}
      </Title>
      <Code block tabIndex={0}>
        {command}
      </Code>
      <CopyButton value={command}>
        {({ copied, copy }) => (
          <Button size="compact-sm" variant="subtle" onClick={copy}>
            {copied ? t('copied') : t('copyRequest')}
          </Button>
        )}
      </CopyButton>
    </section>
  );
}

/** An editor for the YAML of a mega service. The gateway validates the changes but does not store them. */
function Definition({ service }: { service: DetailedMegaService }): ReactElement {
  const t = useText();
  const [yaml, setYaml] = useState(service.source);
  const check = useQuery({
    queryKey: ['validate', yaml],
    queryFn: () =>
      call<{ valid: boolean; problems: Problem[] }>('/megaservices/validate', {
        source: yaml,
        file: service.file,
      }),
    enabled: yaml !== service.source,
  });
  const problems = yaml === service.source ? [] : (check.data?.problems ?? []);
  return (
    <section aria-label={t('definition')}>
      <Title order={2} size="h5" mt="lg" mb="xs">
        {service.file}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t('definitionText', { file: service.file })}
      </Text>
      <Textarea
        autosize
        minRows={6}
        maxRows={30}
        spellCheck={false}
        aria-label={t('definition')}
        classNames={{ input: 'code' }}
        value={yaml}
        onChange={(event) => setYaml(event.currentTarget.value)}
      />
      <div role="status">
        {problems.map(({ node, field, message }) => (
          <Alert key={`${node}-${field}-${message}`} color="red" mt="xs" p="xs">
            {[node && t('node', { name: node }), field, message].filter(Boolean).join(': ')}
          </Alert>
        ))}
        {check.isError && (
          <Alert color="red" mt="xs" p="xs">
            {messageOf(check.error)}
          </Alert>
        )}
        {check.data?.valid && yaml !== service.source && (
          <Alert color="green" mt="xs" p="xs">
            {t('valid')}
          </Alert>
        )}
      </div>
    </section>
  );
}
