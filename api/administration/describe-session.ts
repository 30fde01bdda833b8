import { errorResponses, jsonResponse, schemaOf } from '../openapi/openapi.ts';
import type { PathItem } from '../openapi/openapi.ts';
import { sessionSchema, signInSchema } from './session-schemas.ts';

/** OpenAPI paths of signing in to the dashboard. */
export function describeSession(): Record<string, PathItem> {
  const session = schemaOf(sessionSchema);
  const byCookie = [{ session: [] }];
  return {
    '/v1/session': {
      post: {
        operationId: 'signIn',
        summary: 'Sign in to the dashboard',
        description:
          'Exchanges an admin key, or the text of a sign-in link, for a cookie (HttpOnly, SameSite=Strict, 12 hours). The cookie stands for an API key; requests with it that change something must come from a page of the service.',
        security: [],
        requestBody: { required: true, content: { 'application/json': { schema: schemaOf(signInSchema, 'input') } } },
        responses: {
          201: jsonResponse('The session; its cookie is set.', session),
          ...errorResponses(400, 401, 403, 413, 415, 429, 503),
        },
      },
      get: {
        operationId: 'getSession',
        summary: 'Who is signed in, and what there is',
        security: byCookie,
        responses: { 200: jsonResponse('The session.', session), ...errorResponses(401, 503) },
      },
      delete: {
        operationId: 'signOut',
        summary: 'Sign out',
        security: byCookie,
        responses: { 204: { description: 'The session has ended.' }, ...errorResponses(401, 403, 503) },
      },
    },
    '/v1/sessions': {
      delete: {
        operationId: 'signOutAll',
        summary: 'End every session of the organization',
        security: [{ adminKey: [] }, { session: [] }],
        responses: { 204: { description: 'All have ended.' }, ...errorResponses(401, 403, 429, 503) },
      },
    },
  };
}
