import { useEffect, useRef, useState, type ReactElement } from 'react';
import { IconButton } from '../../shared/icon-button';
import { IconMicrophone, IconPlayerStopFilled } from '../../shared/icons';
import { showError } from '../../shared/toast';
import { useText } from '../../i18n/text';
import { drafts, joined, setDraft } from '../drafts';
import type { Dictation } from './dictation';

/** Writes what is said into the draft, while it is said. Browsers give pages a microphone over HTTPS and on this machine. */
export function Microphone({ conversation }: { conversation: string }): ReactElement | null {
  const t = useText();
  const [state, setState] = useState<'off' | 'on' | 'ending'>('off');
  const running = useRef<Dictation>(undefined);
  useEffect(() => () => running.current?.close(), []);
  if (!('mediaDevices' in navigator)) return null;
  const start = async () => {
    const { Dictation } = await import('./dictation');
    const before = drafts.get()[conversation] ?? '';
    const dictation = new Dictation((said) => setDraft(conversation, joined(before, said)));
    running.current = dictation;
    setState('on');
    await dictation.ended;
  };
  const toggle = () => {
    if (state === 'on') {
      setState('ending');
      running.current?.finish();
      return;
    }
    void start()
      .catch(showError)
      .finally(() => setState('off'));
  };
  const label = state === 'off' ? t('speak') : t('speakEnd');
  return (
    <IconButton
      size={36}
      radius="xl"
      variant={state === 'off' ? 'subtle' : 'light'}
      color={state === 'off' ? 'gray' : 'red'}
      loading={state === 'ending'}
      label={label}
      aria-pressed={state !== 'off'}
      onClick={toggle}
    >
      {state === 'off' ? <IconMicrophone size={20} /> : <IconPlayerStopFilled size={18} />}
    </IconButton>
  );
}
