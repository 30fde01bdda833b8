import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Button } from 'react-aria-components';
import { messageOf } from '../http/client.ts';
import { onToast, shownToast, showToast } from './toasts.ts';

const shownMs = 10_000;

/** Shows what was done, with a button that undoes it. It stays while the pointer or the focus is in it. */
export function ToastBar() {
  const toast = useSyncExternalStore(onToast, shownToast);
  const bar = useRef<HTMLDivElement>(null);
  const [isHeld, setHeld] = useState(false);
  const undoing = useMutation({
    mutationFn: (undo: () => Promise<string>) => undo(),
    onSettled: (text, error) => {
      bar.current?.focus();
      showToast({ text: error === null ? (text ?? '') : messageOf(error), undo: null });
    },
  });
  const stays = toast === null || isHeld || undoing.isPending;
  useEffect(() => {
    if (stays) return undefined;
    const timer = setTimeout(() => showToast(null), shownMs);
    return () => clearTimeout(timer);
  }, [toast, stays]);
  const undo = toast?.undo ?? null;
  return (
    <div
      ref={bar}
      className="toast"
      role="status"
      tabIndex={-1}
      hidden={toast === null}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <p>{toast?.text}</p>
      {undo !== null && (
        <Button className="button" isDisabled={undoing.isPending} onPress={() => undoing.mutate(undo)}>
          Undo
        </Button>
      )}
      <Button
        className="button button-quiet"
        onPress={() => {
          // not every browser fires blur for an element that it hides
          setHeld(false);
          showToast(null);
        }}
      >
        Dismiss
      </Button>
    </div>
  );
}
