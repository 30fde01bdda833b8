import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { Button } from 'react-aria-components';
import { useKeys } from '../../use-keys.ts';

const ShortcutsDialog = lazy(() =>
  import('./shortcuts-dialog.tsx').then(({ ShortcutsDialog }) => ({ default: ShortcutsDialog })),
);

/** Reports whether a key is meant for a field or for the browser. */
export function isForOthers(event: KeyboardEvent): boolean {
  const isTyping =
    event.target instanceof HTMLElement &&
    event.target.matches('input:not([type=checkbox]), textarea, select, [contenteditable]');
  const isInDialog = document.querySelector('[role=dialog], [role=alertdialog]') !== null;
  return isTyping || isInDialog || event.metaKey || event.ctrlKey || event.altKey;
}

/** Handles the keys that work on every page and shows the list of all shortcuts. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  useKeys((event) => {
    if (isForOthers(event)) return;
    const named = document.querySelector<HTMLElement>(`main [aria-keyshortcuts=${CSS.escape(event.key)}]`);
    const search = document.querySelector<HTMLElement>('input[type=search]');
    if (event.key === '?') setOpen(true);
    else if (event.key === '/' && search !== null) search.focus();
    else if (named !== null) named.click();
    else if (event.key === 'c') void navigate({ to: '/new' });
    else return;
    // the key must not be typed into the field
    event.preventDefault();
  });
  return (
    <>
      <Button className="button button-quiet" onPress={() => setOpen(true)}>
        Shortcuts <kbd>?</kbd>
      </Button>
      {isOpen && (
        <Suspense>
          <ShortcutsDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
