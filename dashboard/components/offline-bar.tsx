import { useEffect, useSyncExternalStore } from 'react';
import { onReachableChange, serverIsReachable } from '../http/reachable.ts';
import { queryClient } from '../queries.ts';

/** Shows that the server cannot be reached. What failed meanwhile is loaded again once it can. */
export function OfflineBar() {
  const isReachable = useSyncExternalStore(onReachableChange, serverIsReachable);
  useEffect(() => {
    if (isReachable)
      void queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  }, [isReachable]);
  return (
    <div role="status">
      {!isReachable && <p className="offline-bar">Docket cannot be reached. Retrying every 2 seconds…</p>}
    </div>
  );
}
