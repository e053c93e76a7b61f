import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState, type ReactElement } from 'react';
import UPlot from 'uplot';
import { clockText, numberText } from '../i18n/text';

/** A line of a chart. */
export interface Line {
  label: string;
  color: 'blue' | 'orange' | 'green';
}

/** Times in seconds, then the values of each line. */
export type ChartData = [number[], ...(number | null)[][]];

const height = 180;
/** Colors with a contrast of at least 3:1 on both backgrounds. */
const colors = {
  light: { blue: '#3b5bdb', orange: '#c92a2a', green: '#2b8a3e', text: '#495057', grid: '#dee2e6' },
  dark: { blue: '#91a7ff', orange: '#ff8787', green: '#69db7c', text: '#adb5bd', grid: '#3a3a3a' },
} as const;

/** A line chart over time. The table below it contains the numbers for screen readers. */
export default function Chart({
  title,
  data,
  lines,
  unit,
}: {
  title: string;
  data: ChartData;
  lines: readonly Line[];
  unit: string;
}): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  const [plot, setPlot] = useState<UPlot>();
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const made = new UPlot(optionsOf(lines, unit, scheme, element.clientWidth), undefined, element);
    setPlot(made);
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [scheme, lines, unit]);
  useEffect(() => plot?.setData(data), [plot, data]);
  return <div ref={place} role="img" aria-label={title} className="chart" />;
}

function optionsOf(
  lines: readonly Line[],
  unit: string,
  scheme: keyof typeof colors,
  width: number,
): UPlot.Options {
  const palette = colors[scheme];
  const axis = { stroke: palette.text, grid: { stroke: palette.grid, width: 1 }, ticks: { show: false } };
  const withUnit = (value: number) => `${numberText(value, 1)} ${unit}`.trimEnd();
  return {
    width,
    height,
    cursor: { y: false },
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(high, 1) * 1.1] } },
    axes: [
      { ...axis, values: (_plot, ticks) => ticks.map((tick) => clockText(tick * 1000)) },
      { ...axis, size: 70, values: (_plot, ticks) => ticks.map(withUnit) },
    ],
    series: [
      {
        label: '',
        value: (_plot, time: number | null) => (time === null ? '–' : clockText(time * 1000)),
      },
      ...lines.map(({ label, color }) => ({
        label,
        value: (_plot: UPlot, value: number | null) => (value === null ? '–' : withUnit(value)),
        stroke: palette[color],
        width: 2,
        points: { show: true, size: 4 },
      })),
    ],
  };
}
