import { Badge, Group, NativeSelect, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { useText, dateText, numberText, type Key } from '../i18n/text';
import type { PipelineRun } from './pipeline';

/** The times of a run: for each node the time of waiting, of the call, and of streaming. */
export function Waterfall({
  runs,
  run,
  pick,
}: {
  runs: readonly PipelineRun[];
  run: PipelineRun;
  pick: (requestId: string) => void;
}): ReactElement {
  const t = useText();
  const options = runs.map(({ requestId, startedAt, runMs }) => ({
    value: requestId,
    label: `${dateText(startedAt)} · ${numberText(runMs)} ms · ${requestId.slice(0, 8)}`,
  }));
  const total = Math.max(run.runMs, 1);
  return (
    <>
      <Group mb="sm">
        <NativeSelect
          aria-label={t('run')}
          data={options}
          value={run.requestId}
          onChange={(event) => pick(event.currentTarget.value)}
        />
        <Badge
          variant="dot"
          color={run.state === 'ok' ? 'green' : run.state === 'running' ? 'indigo' : 'red'}
        >
          {t(`run-${run.state}` as Key)}
        </Badge>
        <Legend />
      </Group>
      <div role="table" aria-label={t('waterfall')} className="waterfall">
        {run.nodes.map((node) => (
          <Bar key={node.node} node={node} start={run.startedAt} total={total} />
        ))}
      </div>
    </>
  );
}

function Legend(): ReactElement {
  const t = useText();
  return (
    <Group gap="xs">
      {(['queue', 'call', 'stream'] as const).map((part) => (
        <Group key={part} gap={4}>
          <span className={`swatch ${part}`} />
          <Text size="xs">{t(part)}</Text>
        </Group>
      ))}
    </Group>
  );
}

function Bar({
  node,
  start,
  total,
}: {
  node: PipelineRun['nodes'][number];
  start: number;
  total: number;
}): ReactElement {
  const t = useText();
  const { queuedMs, runMs, firstChunkMs = runMs, startedAt = start } = node;
  const share = (milliseconds: number) => `${Math.min((milliseconds / total) * 100, 100)}%`;
  return (
    <div role="row" className="waterfall-row">
      <span role="rowheader" className="name">
        {node.node}
      </span>
      <span role="cell" className="track" aria-hidden>
        <span className="bar-part" style={{ width: share(Math.max(startedAt - start - queuedMs, 0)) }} />
        <span className="bar-part queue" style={{ width: share(queuedMs) }} />
        <span className="bar-part call" style={{ width: share(firstChunkMs) }} />
        <span className="bar-part stream" style={{ width: share(runMs - firstChunkMs) }} />
      </span>
      <span role="cell" className="waterfall-time">
        {node.state === 'skipped' ? t('skipped') : `${numberText(runMs, 1)} ms`}
        {node.attempts > 1 && ` · ${t('attempts', { count: node.attempts })}`}
      </span>
    </div>
  );
}
