import { Badge, Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { call } from '../api/connection';
import { useText, type Key } from '../i18n/text';
import { Rows, Section } from './section';

interface Finding {
  check: string;
  level: 'ok' | 'warn' | 'fail';
  message: string;
  fix?: string;
}

const colors = { ok: 'green', warn: 'yellow', fail: 'red' } as const;
const order = ['fail', 'warn', 'ok'];

/** What is wrong with the installation, and what to do about it. */
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
