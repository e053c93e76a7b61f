import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { messageOf } from '../api/connection';
import { text } from '../i18n/text';
import { Stored } from '../stored';

/** Shows an error that has no place of its own on the page. */
export function showError(error: unknown): void {
  notifications.show({ color: 'red', title: text('failed'), message: messageOf(error), autoClose: 8_000 });
}

/** Milliseconds in which something deleted can be taken back. */
export const undoMs = 6_000;

const waiting = new Map<string, { timer: number; act: () => Promise<void> }>();

/** Ids of things that are gone for the user, while their deletion can still be taken back. */
export const hiddenIds = (name: string) => new Stored<string[]>(name, [], window.sessionStorage);

/** Hides something at once and deletes it after a while, unless the user takes it back. */
export function deleteWithUndo(
  hidden: Stored<string[]>,
  { id, name }: { id: string; name: string },
  act: () => Promise<void>,
): void {
  hidden.update((ids) => [...ids, id]);
  const show = () => hidden.update((ids) => ids.filter((other) => other !== id));
  actWithUndo(text('deleted', { name }), () => act().then(show), show);
}

/** Does something after a while, unless the user takes it back; leaving the page does it at once. */
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
