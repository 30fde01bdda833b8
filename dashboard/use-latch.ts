import { useState } from 'react';

/** Reports whether a condition has held since the component was mounted. A page that is complete stays, whatever it loads next. */
export function useLatch(isTrue: boolean): boolean {
  const [wasTrue, setTrue] = useState(isTrue);
  if (isTrue && !wasTrue) setTrue(true);
  return wasTrue || isTrue;
}
