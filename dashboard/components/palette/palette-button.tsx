import { lazy, Suspense, useState } from 'react';
import { Button } from 'react-aria-components';
import { useKeys } from '../../use-keys.ts';

const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => ({ default: Palette })));

/** Opens the command palette, as Ctrl + K (or Command + K) does on every page. */
export function PaletteButton() {
  const [isOpen, setOpen] = useState(false);
  useKeys((event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    if (document.querySelector('[role=dialog], [role=alertdialog]') !== null) return;
    // the browser would go to its own search field
    event.preventDefault();
    setOpen(true);
  });
  return (
    <>
      <Button className="button button-quiet" onPress={() => setOpen(true)}>
        Commands <kbd>Ctrl K</kbd>
      </Button>
      {isOpen && (
        <Suspense>
          <Palette onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
