import { useEffect, useEffectEvent } from 'react';

/** Listens to the keys that are pressed anywhere on the page. */
export function useKeys(onKey: (event: KeyboardEvent) => void): void {
  const listen = useEffectEvent(onKey);
  useEffect(() => {
    const heard = (event: KeyboardEvent) => listen(event);
    addEventListener('keydown', heard);
    return () => removeEventListener('keydown', heard);
  }, []);
}
