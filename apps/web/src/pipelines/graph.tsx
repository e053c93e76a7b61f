import '@xyflow/react/dist/style.css';
import { useComputedColorScheme } from '@mantine/core';
import { Background, Controls, MarkerType, Position, ReactFlow, type Edge, type Node } from '@xyflow/react';
import { useMemo, type ReactElement } from 'react';
import type { MegaServiceNode } from '../api/queries';
import { numberText, useText } from '../i18n/text';
import { columnsOf, type PipelineRun } from './pipeline';

const columnWidth = 230;
const rowHeight = 110;

/** The graph of a mega service, with the times of a run at its nodes. */
export default function Graph({
  nodes,
  run,
}: {
  nodes: readonly MegaServiceNode[];
  run: PipelineRun | undefined;
}): ReactElement {
  const t = useText();
  const scheme = useComputedColorScheme('light');
  const placed = useMemo(() => place(nodes, run), [nodes, run]);
  const edges = useMemo(() => edgesOf(nodes, run), [nodes, run]);
  return (
    <div className="graph" role="group" aria-label={t('graph')}>
      <ReactFlow
        nodes={placed}
        edges={edges}
        colorMode={scheme}
        fitView
        fitViewOptions={{ padding: 0.15, maxZoom: 1 }}
        minZoom={0.2}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        preventScrolling={false}
        zoomOnScroll={false}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

function place(nodes: readonly MegaServiceNode[], run: PipelineRun | undefined): Node[] {
  const columns = columnsOf(nodes);
  const rows = new Map<number, number>();
  return nodes.map(({ node, service, optional }) => {
    const column = columns.get(node) ?? 0;
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    const ran = run?.nodes.find((one) => one.node === node);
    return {
      id: node,
      position: { x: column * columnWidth, y: row * rowHeight },
      sourcePosition: Position.Right,
      targetPosition: Position.Left,
      className: `graph-node ${ran?.state ?? 'idle'}`,
      data: { label: <Label node={node} service={service} optional={optional} ran={ran} /> },
    };
  });
}

function edgesOf(nodes: readonly MegaServiceNode[], run: PipelineRun | undefined): Edge[] {
  const running = new Set(run?.nodes.filter(({ state }) => state === 'running').map(({ node }) => node));
  return nodes.flatMap(({ node, after }) =>
    after.map((before) => ({
      id: `${before}-${node}`,
      source: before,
      target: node,
      animated: running.has(node),
      markerEnd: { type: MarkerType.ArrowClosed },
    })),
  );
}

function Label({
  node,
  service,
  optional,
  ran,
}: {
  node: string;
  service: string;
  optional: boolean;
  ran: PipelineRun['nodes'][number] | undefined;
}): ReactElement {
  const t = useText();
  return (
    <>
      <strong>{node}</strong>
      <div className="graph-detail">
        {[service !== node && service, optional && t('optional')].filter(Boolean).join(' · ')}
      </div>
      <div className="graph-time">{ran ? `${numberText(ran.runMs, 1)} ms` : '–'}</div>
    </>
  );
}
