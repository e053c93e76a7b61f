import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { messageOf } from '../api/connection';
import { text } from '../i18n/text';
import { Stored } from '../stored';

/** Shows an error that has no place of its own on the page. */
export function showError(error: unknown): void {
  notifications.show({ color: 'red', title: text('failed'), message: messageOf(error), autoClose: 8_000 });
}

/** Milliseconds in which a deletion can be undone. */
export const undoMs = 6_000;

const waiting = new Map<string, { timer: number; act: () => Promise<void> }>();

/** Ids of hidden objects whose deletion can still be undone. */
export const hiddenIds = (name: string) => new Stored<string[]>(name, [], window.sessionStorage);

/** Hides an object at once and deletes it later, unless the user undoes the deletion. */
export function deleteWithUndo(
  hidden: Stored<string[]>,
  { id, name }: { id: string; name: string },
  act: () => Promise<void>,
): void {
  hidden.update((ids) => [...ids, id]);
  const show = () => hidden.update((ids) => ids.filter((other) => other !== id));
  actWithUndo(text('deleted', { name }), () => act().then(show), show);
}

/** Runs an action later, unless the user undoes it. Leaving the page runs it at once. */
function actWithUndo(message: string, act: () => Promise<void>, undo: () => void): void {
  const id = crypto.randomUUID();
  const finish = async () => {
    waiting.delete(id);
    notifications.hide(id);
    await act().catch((error: unknown) => {
      undo();
      showError(error);
    });
  };
  waiting.set(id, { timer: window.setTimeout(() => void finish(), undoMs), act: finish });
  const takeBack = () => {
    window.clearTimeout(waiting.get(id)?.timer);
    waiting.delete(id);
    notifications.hide(id);
    undo();
  };
  notifications.show({
    id,
    autoClose: false,
    withCloseButton: false,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" lineClamp={2}>
          {message}
        </Text>
        <Button size="compact-sm" variant="subtle" onClick={takeBack}>
          {text('undo')}
        </Button>
      </Group>
    ),
  });
}

window.addEventListener('pagehide', () => {
  for (const { act } of waiting.values()) void act();
});
