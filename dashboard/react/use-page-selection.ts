import { useCallback, useEffect, useRef, useState } from 'react';
import { selectedText } from '../widget/selected-text.ts';

interface PageSelection {
  selection: string | null;
  /** Takes what is selected on the page, at most once per selection. */
  takeSelection(): void;
  forgetSelection(): void;
}

/** Holds the text that was selected on the page when the reader went to the chat. */
export function usePageSelection(): PageSelection {
  const [selection, setSelection] = useState<string | null>(null);
  // going to a field may clear the selection of the page before the field has the focus
  const latest = useRef<string | null>(null);
  useEffect(() => {
    latest.current = selectedText();
    const onChange = ({ target }: Event) => {
      // fields report their own selections
      if (target === document) latest.current = selectedText();
    };
    document.addEventListener('selectionchange', onChange);
    return () => document.removeEventListener('selectionchange', onChange);
  }, []);
  return {
    selection,
    takeSelection: useCallback(() => {
      if (latest.current !== null) setSelection(latest.current);
      latest.current = null;
    }, []),
    forgetSelection: useCallback(() => {
      latest.current = null;
      setSelection(null);
    }, []),
  };
}
