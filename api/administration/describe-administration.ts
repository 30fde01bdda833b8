import { security } from '../jobs/describe-jobs.ts';
import { auditPageSchema, createdKeySchema, createKeySchema, keyListSchema } from './key-schemas.ts';
import {
  errorResponses,
  jsonBody,
  jsonResponse,
  listParameters,
  pageParameters,
  pathParameter,
  schemaOf,
} from '../openapi/openapi.ts';
import type { PathItem } from '../openapi/openapi.ts';
import { changeProjectSchema, createProjectSchema, projectListSchema, projectSchema } from './project-schemas.ts';
import { changeSiteSchema, createSiteSchema, siteListSchema, siteSchema } from '../sites/site-schemas.ts';

const reads = errorResponses(401, 403, 404, 429, 503);
const lists = errorResponses(400, 401, 403, 429, 503);
const writes = errorResponses(400, 401, 403, 404, 409, 413, 415, 429, 503);

/** OpenAPI paths of what an organization administers. */
export function describeAdministration(): Record<string, PathItem> {
  return { ...describeProjects(), ...describeSites(), ...describeKeys() };
}

function describeProjects(): Record<string, PathItem> {
  const project = schemaOf(projectSchema);
  const parameters = [pathParameter('id', 'The project identifier.')];
  return {
    '/v1/projects': {
      get: {
        operationId: 'listProjects',
        summary: 'List the projects of the organization',
        security,
        parameters: listParameters,
        responses: { 200: jsonResponse('A page of them, oldest first.', schemaOf(projectListSchema)), ...lists },
      },
      post: {
        operationId: 'createProject',
        summary: 'Create a project',
        security,
        requestBody: jsonBody(schemaOf(createProjectSchema, 'input')),
        responses: { 201: jsonResponse('The project.', project), ...writes },
      },
    },
    '/v1/projects/{id}': {
      get: {
        operationId: 'getProject',
        summary: 'Get a project',
        security,
        parameters,
        responses: { 200: jsonResponse('The project.', project), ...reads },
      },
      patch: {
        operationId: 'changeProject',
        summary: 'Change a project; what is left out stays',
        security,
        parameters,
        requestBody: jsonBody(schemaOf(changeProjectSchema, 'input')),
        responses: { 200: jsonResponse('The project.', project), ...writes },
      },
      delete: {
        operationId: 'deleteProject',
        summary: 'Delete a project for good, with its jobs, webhooks and credentials',
        description: 'Active jobs are stopped first. The repository and what jobs have put on the forge stay.',
        security,
        parameters,
        responses: { 204: { description: 'It is gone.' }, ...reads },
      },
    },
  };
}

function describeSites(): Record<string, PathItem> {
  const site = schemaOf(siteSchema);
  const parameters = [pathParameter('domain', 'The domain identifier of the site.')];
  return {
    '/v1/sites': {
      get: {
        operationId: 'listSites',
        summary: 'List the documentation sites of the organization',
        security,
        parameters: listParameters,
        responses: { 200: jsonResponse('A page of them, oldest first.', schemaOf(siteListSchema)), ...lists },
      },
      post: {
        operationId: 'createSite',
        summary: 'Create a site; it is indexed in the background',
        security,
        requestBody: jsonBody(schemaOf(createSiteSchema, 'input')),
        responses: { 201: jsonResponse('The site.', site), ...writes },
      },
    },
    '/v1/sites/{domain}': {
      get: {
        operationId: 'getSite',
        summary: 'Get a site',
        security,
        parameters,
        responses: { 200: jsonResponse('The site.', site), ...reads },
      },
      patch: {
        operationId: 'changeSite',
        summary: 'Change a site; what is left out stays, and it is indexed again when its pages come from elsewhere',
        security,
        parameters,
        requestBody: jsonBody(schemaOf(changeSiteSchema, 'input')),
        responses: { 200: jsonResponse('The site.', site), ...writes },
      },
      delete: {
        operationId: 'deleteSite',
        summary: 'Remove a site with its index and its conversations',
        security,
        parameters,
        responses: { 204: { description: 'It is gone.' }, ...reads },
      },
    },
    '/v1/sites/{domain}/index': {
      post: {
        operationId: 'indexSite',
        summary: 'Index a site again',
        security,
        parameters,
        responses: { 202: jsonResponse('The site; its index is made in the background.', site), ...reads },
      },
    },
  };
}

function describeKeys(): Record<string, PathItem> {
  return {
    '/v1/keys': {
      get: {
        operationId: 'listKeys',
        summary: 'List the API keys of the organization, without their secrets',
        security,
        parameters: listParameters,
        responses: { 200: jsonResponse('A page of them, oldest first.', schemaOf(keyListSchema)), ...lists },
      },
      post: {
        operationId: 'createKey',
        summary: 'Create an API key; at most 100 an hour',
        security,
        requestBody: jsonBody(schemaOf(createKeySchema, 'input')),
        responses: { 201: jsonResponse('The key, shown this once.', schemaOf(createdKeySchema)), ...writes },
      },
    },
    '/v1/keys/{id}': {
      delete: {
        operationId: 'revokeKey',
        summary: 'Revoke a key; it stops working within 5 seconds',
        security,
        parameters: [pathParameter('id', 'The id of the key, 12 characters.')],
        responses: { 204: { description: 'It is revoked.' }, ...reads },
      },
    },
    '/v1/audit': {
      get: {
        operationId: 'listAuditEntries',
        summary: 'Lists the audit log: every change over HTTP and by the command line, newest first',
        security,
        parameters: pageParameters,
        responses: {
          200: jsonResponse('A page of entries.', schemaOf(auditPageSchema)),
          ...errorResponses(400, 401, 403, 429, 503),
        },
      },
    },
  };
}
