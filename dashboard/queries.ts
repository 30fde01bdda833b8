import { QueryClient, queryOptions } from '@tanstack/react-query';
import { answerOf, api, ApiProblem } from './http/client.ts';
import { noteSignedIn, onSignedOutElsewhere } from './http/signed-in.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => !(error instanceof ApiProblem && error.status < 500) && count < 3,
    },
  },
});

/** Who is signed in, and what there is; null when nobody is. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: 60_000,
  queryFn: async () => {
    try {
      const session = await answerOf(api.GET('/v1/session'));
      noteSignedIn();
      return session;
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 401) return null;
      throw error;
    }
  },
});

/** Shows the sign-in page; what the person who was signed in has seen is kept for nobody. */
export function endSession(): void {
  queryClient.setQueryData(sessionQuery.queryKey, null);
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
}

onSignedOutElsewhere(endSession);

// an answer of 401 anywhere shows the sign-in page, at the address where the person was
api.use({
  onResponse({ response, schemaPath }) {
    if (response.status === 401 && schemaPath !== '/v1/session') endSession();
  },
});
