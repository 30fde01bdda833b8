import { useEffect, useSyncExternalStore } from 'react';
import { onReachChange, reachOfServer } from '../http/reachable.ts';
import { queryClient } from '../queries.ts';

const problems = {
  lost: 'Docket cannot be reached. Retrying every 2 seconds…',
  silent: 'Docket has not responded for 10 seconds. Still waiting…',
};

/** Shows that the server cannot be reached, or does not respond. What failed meanwhile is loaded again once it does. */
export function OfflineBar() {
  const reach = useSyncExternalStore(onReachChange, reachOfServer);
  useEffect(() => {
    if (reach === 'reached')
      void queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  }, [reach]);
  return <div role="status">{reach !== 'reached' && <p className="offline-bar">{problems[reach]}</p>}</div>;
}
