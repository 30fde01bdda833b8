import { QueryClient, queryOptions } from '@tanstack/react-query';
import { forgetDrafts } from './drafts.ts';
import { answerOf, api, ApiProblem } from './http/client.ts';
import { noteSignedIn, onSignedOutElsewhere, onSwitchedElsewhere } from './http/signed-in.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    // a browser without internet access can still reach a Docket on this machine or network
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      retry: (count, error) => !(error instanceof ApiProblem && error.status < 500) && count < 3,
    },
  },
});

/** Query for the current session; null when no user is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: 60_000,
  queryFn: async () => {
    try {
      const session = await answerOf(api.GET('/v1/session'));
      noteSignedIn(session.organization.id);
      return session;
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 401) return null;
      throw error;
    }
  },
});

/** Shows the sign-in page and discards everything that the signed-in user has loaded. */
export function endSession(): void {
  queryClient.setQueryData(sessionQuery.queryKey, null);
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
}

/** Reloads the dashboard for another organization, because all loaded data is stale. */
export function startAnew(): void {
  forgetDrafts();
  location.assign('/jobs');
}

onSwitchedElsewhere(startAnew);
onSignedOutElsewhere(() => {
  forgetDrafts();
  endSession();
});

// any 401 response shows the sign-in page at the current address
api.use({
  onResponse({ response, schemaPath }) {
    if (response.status === 401 && schemaPath !== '/v1/session') endSession();
  },
});
