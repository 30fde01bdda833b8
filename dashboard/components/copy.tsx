import { useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import { copyText } from '../widget/answer/copy-text.ts';
import { showToast } from './toasts.ts';

/** Returns what copies a text, and whether it has just done so. */
export function useCopy(): { isCopied: boolean; copy(text: string): void } {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return {
    isCopied,
    copy: (text) =>
      void copyText(text, document.activeElement ?? document.body).then(
        () => setCopied(true),
        () => showToast({ text: 'The browser did not copy. Select the text to copy it.', undo: null }),
      ),
  };
}

/** Copies a text on a press. `label` says what is copied, such as "job id". */
export function Copy({ text, label }: { text: string; label: string }) {
  const { isCopied, copy } = useCopy();
  return (
    <Button className="copy" aria-label={isCopied ? `Copied ${label}` : `Copy ${label}`} onPress={() => copy(text)}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        {isCopied ? <path d="M3 8.5 6.5 12 13 4.5" /> : <path d="M6 5.5h7v8H6zM10 5.5v-3H3v8h3" />}
      </svg>
    </Button>
  );
}
